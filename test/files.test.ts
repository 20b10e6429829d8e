import { chmod, chown, lchown, mkdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeOwnFolder } from "../src/files.js";
import { temporaryFolder } from "./support/folders.js";

const isRoot = process.getuid?.() === 0;
const SOMEONE = 12_345;
const REFUSAL = "belongs to another user or can be written by others: name a folder of your own with --temp";

describe("a folder for temporary files of the server", () => {
  test("is accessible only to its owner", async () => {
    const folder = join(await temporaryFolder(), "a", "b");
    await makeOwnFolder(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await makeOwnFolder(folder);
  });

  test.runIf(process.platform === "linux")(
    "that its parent does not take is refused, not tried without end",
    async () => {
      await expect(makeOwnFolder("/proc/x/y")).rejects.toThrow("/proc/x cannot be made: /proc takes no folders");
    },
  );

  test("that others can write to is refused, unless it is sticky", async () => {
    const folder = await temporaryFolder();
    await chmod(folder, 0o777);
    await expect(makeOwnFolder(folder)).rejects.toThrow(`${folder} ${REFUSAL}`);
    await chmod(folder, 0o1777);
    await makeOwnFolder(folder);
    await chmod(folder, 0o755);
    await makeOwnFolder(folder);
    await chmod(folder, 0o700);
  });

  test.skipIf(!isRoot)("of another user is refused, and so is a link that another user made", async () => {
    const [folder, link] = [join(await temporaryFolder(), "theirs"), join(await temporaryFolder(), "link")];
    await mkdir(folder);
    await symlink(folder, link);
    await makeOwnFolder(link);
    await lchown(link, SOMEONE, SOMEONE);
    await expect(makeOwnFolder(link)).rejects.toThrow(`${link} ${REFUSAL}`);
    await makeOwnFolder(folder);
    await chown(folder, SOMEONE, SOMEONE);
    await expect(makeOwnFolder(folder)).rejects.toThrow(`${folder} ${REFUSAL}`);
  });
});
