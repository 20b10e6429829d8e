// Checks the serving copies.
import type { ServerConfig } from "../../config.js";
import { countCopies } from "../../copier/count.js";
import { reasonOf } from "../../errors.js";
import { copiesFolderOf } from "../../lake/layout.js";
import { openLake } from "../../lake/lake.js";
import { size } from "../../words.js";
import { type Finding, ok } from "./finding.js";

const THING = "serving copies";

/** Missing copies are no fault: the server makes them, and serves the same rows without them. */
export async function checkCopies(config: ServerConfig): Promise<Finding> {
  const folder = copiesFolderOf(config);
  if (folder === null) return ok(THING, "disabled by --copies");
  try {
    const { copied, files, bytes } = await countCopies(await openLake(config.data), folder);
    const others = "the server makes the others if they fit, and so does tapehouse copies";
    return ok(THING, `${copied} of ${files} data files have one, ${size(bytes)}${copied < files ? `; ${others}` : ""}`);
  } catch (error) {
    return ok(THING, `unknown: ${reasonOf(error)}`);
  }
}
