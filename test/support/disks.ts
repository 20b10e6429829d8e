// Disks that are really full: small file systems, which only root can create.
import { execFileSync } from "node:child_process";
import { mkdir, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEachFile, temporaryFolder } from "./folders.js";

const mounted: string[] = [];

afterEachFile(() => {
  for (const folder of mounted.splice(0)) execFileSync("umount", [folder]);
});

/** A file system of some megabytes, or null where this user may not make one. */
export async function smallDisk(megabytes: number): Promise<string | null> {
  const folder = join(await temporaryFolder(), "disk");
  await mkdir(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return null;
  }
  mounted.push(folder);
  return folder;
}

/** Fills a disk but for some kilobytes; gives the file that fills it. */
export async function fillDisk(folder: string, kilobytes: number): Promise<string> {
  const { bavail, bsize } = await statfs(folder);
  const ballast = join(folder, "ballast");
  await writeFile(ballast, Buffer.alloc(bavail * bsize - kilobytes * 1024));
  return ballast;
}

/** Gives it another size. */
export const resizeDisk = (folder: string, megabytes: number): void =>
  void execFileSync("mount", ["-o", `remount,size=${megabytes}m`, folder]);
