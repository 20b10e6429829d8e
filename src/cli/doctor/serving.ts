// Checks whether a server could start with these settings, and whether this machine meets them.
import { X509Certificate } from "node:crypto";
import { access, constants, statfs } from "node:fs/promises";
import { affordableMemory, memoryNeeded, type ServerConfig } from "../../config.js";
import { machineAt, tasksAt } from "../../machine.js";
import { tasksNeeded } from "../../processes/tasks.js";
import { reasonOf } from "../../errors.js";
import { affordableConnections } from "../../http/limits.js";
import { readCertificate } from "../../http/listener.js";
import { openPort } from "../../http/port.js";
import { makeOwnFolder } from "../../files.js";
import { count, plural, size } from "../../words.js";
import { ok, shell, warning, wrong, type Finding } from "./finding.js";

const DAY = 86_400_000;
/** Days before its end when a certificate should be renewed. */
const SOON = 30;

export async function checkServing(
  config: ServerConfig,
  env: NodeJS.ProcessEnv,
  now: Date,
): Promise<readonly Finding[]> {
  return [
    ...(await checkTls(config, now)),
    await checkPort(config),
    checkOpenFiles(config),
    checkThreads(env),
    checkTasks(config),
    checkMemory(config),
    await checkTemp(config),
  ];
}

async function checkTls({ tls }: ServerConfig, now: Date): Promise<readonly Finding[]> {
  if (!tls) return [ok("TLS", "not used")];
  const way = shell("openssl", "x509", "-noout", "-dates", "-in", tls.cert);
  const expected = "a certificate with its key, valid today";
  try {
    const { cert } = await readCertificate(tls);
    const { validFrom, validTo } = new X509Certificate(cert);
    const days = Math.floor((Date.parse(validTo) - now.getTime()) / DAY);
    const isEarly = Date.parse(validFrom) > now.getTime();
    if (isEarly) return [wrong("TLS", { found: `the certificate is not valid before ${validFrom}`, expected, way })];
    if (days < 0) return [wrong("TLS", { found: `the certificate expired on ${validTo}`, expected, way })];
    const found = `the certificate is valid for ${plural(days, "day")} more`;
    return [days < SOON ? warning("TLS", { found, expected: `more than ${SOON} days`, way }) : ok("TLS", found)];
  } catch (error) {
    return [wrong("TLS", { found: reasonOf(error), expected, way })];
  }
}

async function checkPort({ host, port, tls }: ServerConfig): Promise<Finding> {
  try {
    (await openPort(host, port)).close();
    return ok("port", port === 0 ? "any free port" : `${host}:${port} is free`);
  } catch (error) {
    const url = `${tls ? "https" : "http"}://${host === "0.0.0.0" ? "127.0.0.1" : host}:${port}/health`;
    const health = await fetch(url, { signal: AbortSignal.timeout(3_000) })
      .then(async (answer) => (await answer.json()) as { data_version?: unknown; databases?: unknown })
      .catch(() => null);
    if (health?.databases && typeof health.data_version === "string") {
      return ok("port", `${host}:${port} is used by a Tapehouse server, which serves ${health.data_version}`);
    }
    return wrong("port", {
      found: reasonOf(error),
      expected: `${host}:${port} free, or used by a Tapehouse server`,
      way: shell("tapehouse", "serve", "--port", String(port === 65_535 ? port - 1 : port + 1)),
    });
  }
}

function checkOpenFiles({ connections, streams, workers }: ServerConfig): Finding {
  const wanted = Math.floor(connections / workers);
  const affordable = affordableConnections(wanted, Math.floor(streams / workers));
  if (affordable === wanted) return ok("open files", `enough for ${count(connections)} connections`);
  return warning("open files", {
    found: `enough for ${count(affordable)} connections of each worker`,
    expected: `${count(wanted)}, as set by --connections`,
    way: "ulimit -n 65536",
  });
}

function checkThreads({ UV_THREADPOOL_SIZE: given }: NodeJS.ProcessEnv): Finding {
  const own = "serve sets UV_THREADPOOL_SIZE of each worker from --concurrency";
  if (given === undefined) return ok("threads", own);
  const found = `UV_THREADPOOL_SIZE=${given} is set but ignored: ${own}`;
  return warning("threads", { found, expected: "variable not set", way: "unset UV_THREADPOOL_SIZE" });
}

function checkTasks(config: ServerConfig): Finding {
  const [needed, tasks] = [tasksNeeded(config), tasksAt()];
  if (tasks === null || needed <= tasks.allowed - tasks.used) return ok("processes", `room for the ${needed} needed`);
  const found = `${tasks.limit} allows ${tasks.allowed} processes and threads, of which ${tasks.used} are in use`;
  return wrong("processes", { found, expected: `room for ${needed}: ${tasks.way}`, way: "ulimit -u 4096" });
}

function checkMemory(config: ServerConfig): Finding {
  const { workers, watch, bucket, sqlProcesses } = config;
  const machine = machineAt();
  const { memory: allowed } = machine;
  const needed = memoryNeeded(config);
  const beside = [
    ...(watch ? ["the inbox"] : []),
    ...(bucket === null ? [] : ["the bucket"]),
    ...(sqlProcesses === 0 ? [] : ["SQL"]),
  ];
  const users = [plural(workers, "worker"), ...beside].join(" and ");
  const found = `up to ${size(needed)} for ${users}, of ${size(allowed)} that this process may use`;
  if (needed <= allowed) return ok("memory", found);
  const share = affordableMemory(machine, config);
  const less = ["--memory", share, ...(watch ? ["--ingest-memory", share] : [])];
  const fits = memoryNeeded({ ...config, memory: share, ingestMemory: share }) <= allowed;
  return warning("memory", {
    found,
    expected: `at most ${size(allowed)}: above it the system kills processes`,
    way: fits
      ? shell("tapehouse", "serve", ...less)
      : "use fewer --workers, --no-watch or --sql-processes 0, or raise the memory limit",
  });
}

async function checkTemp({ temp, cache }: ServerConfig): Promise<Finding> {
  const way = shell("tapehouse", "serve", "--temp", "./temp");
  const expected = "a writable folder with space for --cache";
  try {
    await makeOwnFolder(temp);
    await access(temp, constants.W_OK);
    const { bavail, bsize } = await statfs(temp);
    const found = `${temp}, ${size(bavail * bsize)} free`;
    return bavail * bsize < cache ? warning("temp", { found, expected, way }) : ok("temp", found);
  } catch (error) {
    return wrong("temp", { found: reasonOf(error), expected, way });
  }
}
