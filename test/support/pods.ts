// As much of the API of Kubernetes as a cluster needs to start and end its workers: each pod is a process on this machine.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "./folders.js";

interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly containers: readonly [
      {
        readonly command: readonly string[];
        readonly args: readonly string[];
        readonly env: readonly { readonly name: string; readonly value?: string }[];
      },
    ];
  };
}

export interface Pods {
  /** The variables with which a program finds the API. */
  readonly env: NodeJS.ProcessEnv;
  /** The living workers, the oldest first. */
  readonly workers: readonly ChildProcess[];
  close(): Promise<void>;
}

/** `env` are variables of all workers. */
export async function startPods(env: NodeJS.ProcessEnv): Promise<Pods> {
  const workers: ChildProcess[] = [];

  const labels = new Map<ChildProcess, Readonly<Record<string, string>>>();

  function remove(selector: string): void {
    const [label, wanted] = selector.split("=") as [string, string];
    for (const worker of workers.filter((each) => labels.get(each)?.[label] === wanted)) worker.kill("SIGKILL");
  }

  async function create(request: IncomingMessage): Promise<object> {
    const pod = JSON.parse(await textOf(request)) as Pod;
    const [{ command, args, env: variables }] = pod.spec.containers;
    // A variable without a value is the address of the pod.
    const own = Object.fromEntries(variables.map(({ name, value }) => [name, value ?? "127.0.0.1"]));
    const [program, ...first] = command;
    const worker = spawn(program!, [...first, ...args], { env: { ...process.env, ...env, ...own }, stdio: "ignore" });
    workers.push(worker);
    labels.set(worker, pod.metadata.labels);
    worker.once("close", () => workers.splice(workers.indexOf(worker), 1));
    return { ...pod, metadata: { ...pod.metadata, uid: String(worker.pid), namespace: "default" } };
  }

  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.method === "POST") void create(request).then((pod) => answer(201, pod));
    else if (request.method === "DELETE") {
      remove(new URL(request.url!, "http://pods").searchParams.get("labelSelector")!);
      answer(200, { kind: "Status", apiVersion: "v1", status: "Success" });
    } else answer(200, { kind: "PodList", apiVersion: "v1", metadata: {}, items: [] });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  const config = join(await temporaryFolder(), "config.json");
  const { port } = server.address() as AddressInfo;
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "here", cluster: { server: `http://127.0.0.1:${port}` } }],
      users: [{ name: "tests", user: {} }],
      contexts: [{ name: "here", context: { cluster: "here", user: "tests", namespace: "default" } }],
      "current-context": "here",
    }),
  );
  return {
    env: { KUBECONFIG: config },
    workers,
    async close() {
      const ended = workers.map((worker) => once(worker, "close"));
      for (const worker of workers) worker.kill("SIGKILL");
      await Promise.all(ended);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece as string;
  return text;
}
