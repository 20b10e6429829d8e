// Checks the serving copies, and whether their folder can be used.
import { access, constants } from "node:fs/promises";
import type { ServerConfig } from "../../config.js";
import { countCopies } from "../../copier/count.js";
import { claimOn } from "../../copier/folder.js";
import { OperatorError, reasonOf } from "../../errors.js";
import { describeRefusal, isAbsent } from "../../files.js";
import { openCopiesFolder } from "../../lake/copies-folder.js";
import { layoutOf } from "../../lake/layout.js";
import { openLake } from "../../lake/lake.js";
import { size } from "../../words.js";
import { type Finding, ok, shell, warning, wrong } from "./finding.js";

const THING = "serving copies";

const EXPECTED = "a folder of the user of the server for the copies of this data directory, which it can write";
const WAY = shell("tapehouse", "serve", "--copies-folder", "./copies");

/** Missing copies are no fault: the server makes them, and serves the same rows without them. */
export async function checkCopies(config: ServerConfig): Promise<Finding> {
  let folder: string | null;
  try {
    folder = await openCopiesFolder(config);
  } catch (error) {
    // With such a folder, no server starts.
    return wrong(THING, { found: reasonOf(error), expected: EXPECTED, way: WAY });
  }
  if (folder === null) return ok(THING, "disabled by --copies");
  const found = config.watch ? await whyUnusable(folder, config) : null;
  if (found !== null) return warning(THING, { found, expected: EXPECTED, way: WAY });
  try {
    const { copied, files, bytes } = await countCopies(await openLake(config.data), folder);
    const others = "the server makes the others if they fit, and so does tapehouse copies";
    return ok(THING, `${copied} of ${files} data files have one, ${size(bytes)}${copied < files ? `; ${others}` : ""}`);
  } catch (error) {
    return ok(THING, `unknown: ${reasonOf(error)}`);
  }
}

/** Why no copies can be made in the folder, which may not exist yet. */
async function whyUnusable(folder: string, { data }: ServerConfig): Promise<string | null> {
  const isThere = await access(folder).then(
    () => true,
    (error: unknown) => !isAbsent(error),
  );
  try {
    await access(isThere ? folder : data, constants.W_OK | constants.X_OK);
    await claimOn(folder, layoutOf(data));
    return null;
  } catch (error) {
    const reason = error instanceof OperatorError ? error.message : (describeRefusal(error) ?? reasonOf(error));
    return `none can be made: ${reason}`;
  }
}
