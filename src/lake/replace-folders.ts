// Folders of the inbox such as `@replace-day`: a file below one stands for all of its days, snapshots or codes.
import { REPLACE_MODES, faultOfMode, type ReplaceMode } from "../catalog/replace.js";
import type { Entity } from "../catalog/types.js";

const BEGIN = "@replace";

export const replaceFolder = (mode: ReplaceMode): string => `${BEGIN}-${mode}`;

const FOLDERS: ReadonlyMap<string, ReplaceMode> = new Map(REPLACE_MODES.map((mode) => [replaceFolder(mode), mode]));

/** Whether a folder is meant to replace, even if it is misspelt. Other names with `@` are folders like any other. */
export const isReplaceFolder = (folder: string): boolean => folder.toLowerCase().startsWith(BEGIN);

/** The part of a path that tells in which mode its file replaces; null if the file is an ordinary one. */
export const replaceModeOf = (path: string): ReplaceMode | null =>
  foldersOf(path)
    .map((folder) => FOLDERS.get(folder))
    .find((mode) => mode !== undefined) ?? null;

/** Why a file cannot be imported from its folder, and the way out; null if it can. */
export function faultOfFolder(entity: Entity, path: string): string | null {
  const folders = foldersOf(path);
  const unknown = folders.find((folder) => !FOLDERS.has(folder));
  const known = REPLACE_MODES.map(replaceFolder).join(", ");
  if (unknown !== undefined) return `there is no folder ${unknown} in the inbox: the known ones are ${known}`;
  if (new Set(folders).size > 1) return `it is in ${folders.join(" and ")}: move it into one of them`;
  const mode = replaceModeOf(path);
  return mode === null ? null : faultOfMode(entity, mode, (one) => `inbox/${entity.name}/${replaceFolder(one)}/`);
}

const foldersOf = (path: string): readonly string[] => path.split("/").slice(0, -1).filter(isReplaceFolder);
