// The folder of the serving copies that an option names: whoever uses it checks first that it is the user's own.
import { isAbsolute, relative, resolve, sep } from "node:path";
import { OperatorError, reasonOf } from "../errors.js";
import { describeRefusal, makeOwnFolder } from "../files.js";
import { copiesFolderOf, layoutOf } from "./layout.js";

/**
 * The folder of the serving copies; null if there are to be none. One that an option names is made if it is missing.
 * Throws an OperatorError if that is not possible, or if it is not the user's own.
 */
export async function openCopiesFolder(settings: Parameters<typeof copiesFolderOf>[0]): Promise<string | null> {
  const folder = copiesFolderOf(settings);
  if (folder === null || settings.copiesFolder === null) return folder;
  const { copies } = layoutOf(settings.data);
  const inner = relative(resolve(settings.data), resolve(folder));
  const isInside = !isAbsolute(inner) && inner.split(sep)[0] !== "..";
  if (isInside && resolve(folder) !== resolve(copies)) {
    throw new OperatorError(
      `serving copies cannot be kept in ${folder}: the data directory has a folder for them, ${copies}; leave --copies-folder out or name a folder elsewhere`,
    );
  }
  try {
    await makeOwnFolder(folder, "--copies-folder");
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = describeRefusal(error) ?? reasonOf(error);
    throw new OperatorError(
      `serving copies cannot be kept in ${folder}: ${reason}; name another folder with --copies-folder`,
    );
  }
  return folder;
}
