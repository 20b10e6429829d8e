// Checks that the data directory can be read and written, and has enough disk space.
import { constants } from "node:fs";
import { randomUUID } from "node:crypto";
import { access, link, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { reasonOf } from "../../errors.js";
import { lacksLinks, userName } from "../../files.js";
import { exists } from "../../durable.js";
import type { Layout } from "../../lake/layout.js";
import { count, size } from "../../words.js";
import { ok, shell, warning, wrong, type Finding } from "./finding.js";

const SPACE = { little: 2e9, none: 100e6 };
const LEAST_INODES = 1_000;

/** File systems by the type number that the system reports. */
const KINDS: Readonly<Record<number, string>> = {
  0xef53: "ext",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x2fc12fc1: "zfs",
  0x6969: "NFS, a network file system",
  0x517b: "SMB, a network file system",
  0xff534d42: "CIFS, a network file system",
  0xfe534d42: "SMB 2, a network file system",
  0x01021997: "9p, a file system of another machine",
  0x65735546: "FUSE",
  0x4d44: "FAT",
  0x2011bab0: "exFAT",
};

/** File systems whose files do not last, and why. */
const TEMPORARY: Readonly<Record<number, string>> = {
  0x01021994: "tmpfs: what is in it is lost when the machine restarts",
  0x794c7630: "overlay: its contents are lost with the container",
};

/** `given` names the data directory, or the bucket that it mirrors, in commands. */
export async function checkDirectory(layout: Layout, given: string): Promise<readonly Finding[]> {
  const { root } = layout;
  const found = await stat(root).then(
    (stats) => (stats.isDirectory() ? null : `${root} is not a folder`),
    (error: unknown) => `${root} is unavailable: ${codeOf(error)}`,
  );
  const begin = {
    expected: "a folder with a lake, created by an import or the demo",
    way: shell("tapehouse", "demo", "--data", given),
  };
  if (found !== null) return [wrong("data directory", { found, ...begin })];
  const isLake = async (): Promise<boolean> => (await exists(layout.state)) || (await exists(layout.inbox));
  // If the directory cannot be read, the check of permissions reports that.
  const lake = (await isLake().catch(() => true))
    ? ok("data directory", root)
    : wrong("data directory", { found: `${given} has no lake`, ...begin });
  return [lake, ...(await checkRights(layout, given)), ...(await checkDisk(root, given)), ...(await checkLinks(root))];
}

async function checkRights(layout: Layout, given: string): Promise<readonly Finding[]> {
  const { root, state, versions, lists, lake, inbox } = layout;
  const folders = [root, state, versions, lists, lake, inbox];
  const me = userName();
  const refused = async (mode: number): Promise<readonly string[]> => {
    const answers = await Promise.all(folders.map((folder) => access(folder, mode).then(() => "", codeOf)));
    return folders.filter((_, i) => answers[i] !== "" && answers[i] !== "ENOENT");
  };
  const unread = await refused(constants.R_OK | constants.X_OK);
  if (unread.length > 0) {
    return [
      wrong("rights", {
        found: `the user ${me} may not read ${unread.join(", ")}`,
        expected: "folders that this user may read",
        way: shell("sudo", "chown", "-R", me, ...unread),
      }),
    ];
  }
  const unwritten = await refused(constants.W_OK);
  if (unwritten.length === 0) return [ok("rights", `the user ${me} may read and write`)];
  return [
    warning("rights", {
      found: `the user ${me} may not write ${unwritten.join(", ")}: data is served, but drops are not imported`,
      expected: "folders that this user may write, or a replica",
      way: shell("tapehouse", "serve", "--no-watch", "--data", given),
    }),
  ];
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "unknown";

async function checkDisk(root: string, given: string): Promise<readonly Finding[]> {
  const way = shell("tapehouse", "vacuum", "--data", given);
  try {
    const { type, bsize, bavail, files, ffree } = await statfs(root);
    const free = bavail * bsize;
    const room = { found: `${size(free)} free`, expected: `more than ${size(SPACE.little)}`, way };
    const inodes = { found: `space for ${count(ffree)} more files`, expected: `at least ${count(LEAST_INODES)}`, way };
    return [
      free < SPACE.none ? wrong("room", room) : free < SPACE.little ? warning("room", room) : ok("room", room.found),
      // Some file systems have no such limit, and report 0 of 0.
      files > 0 && ffree < LEAST_INODES
        ? warning("inodes", inodes)
        : ok("inodes", files > 0 ? inodes.found : "no limit"),
      kindOf(root, type),
    ];
  } catch (error) {
    return [warning("room", { found: `unknown: ${reasonOf(error)}`, expected: "a file system that reports it", way })];
  }
}

/** Creates two files and removes them again. Nothing is reported of a folder that cannot be written. */
async function checkLinks(root: string): Promise<readonly Finding[]> {
  const file = join(root, `.doctor-${randomUUID()}.tmp`);
  const second = `${file}.tmp`;
  try {
    await writeFile(file, "");
    await link(file, second);
    return [ok("hard links", "supported")];
  } catch (error) {
    if (!lacksLinks(error) || !(await exists(file))) return [];
    return [ok("hard links", "none on this file system: locks and versions are created without them")];
  } finally {
    for (const path of [file, second]) await rm(path, { force: true });
  }
}

function kindOf(root: string, type: number): Finding {
  const temporary = TEMPORARY[type];
  if (temporary === undefined) return ok("file system", KINDS[type] ?? `type 0x${type.toString(16)}`);
  const expected = "a disk or a persistent volume";
  return warning("file system", { found: temporary, expected, way: shell("df", "-hT", root) });
}
