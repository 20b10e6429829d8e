// The actions of Delta commits, as far as they are written here, and their text: one JSON object a line.
import { OperatorError } from "../errors.js";

export interface Protocol {
  readonly minReaderVersion: number;
  readonly minWriterVersion: number;
  readonly writerFeatures: readonly string[];
}

/**
 * Every reader can read version 1. No other program implements the writer feature `tapehouse`, so none may write, although
 * its user might be allowed to: engines would remove files that only versions of the lake name.
 */
export const PROTOCOL: Protocol = {
  minReaderVersion: 1,
  minWriterVersion: 7,
  writerFeatures: ["inCommitTimestamp", "tapehouse"],
};

export interface MetaData {
  /** A UUID. A log that is started over has a new one. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly format: { readonly provider: "parquet"; readonly options: Readonly<Record<string, string>> };
  readonly schemaString: string;
  readonly partitionColumns: readonly string[];
  readonly configuration: Readonly<Record<string, string>>;
  /** Milliseconds since 1970, as all times of a log. */
  readonly createdTime: number;
}

export interface Add {
  /** Relative to the folder of the entity. */
  readonly path: string;
  readonly partitionValues: Readonly<Record<string, string>>;
  /** Bytes. */
  readonly size: number;
  readonly modificationTime: number;
  /** False if the rows were in the table before, in other files. */
  readonly dataChange: boolean;
  /** JSON: rows, bounds and the number of missing values. */
  readonly stats: string;
}

export interface Remove extends Omit<Add, "modificationTime" | "stats"> {
  readonly deletionTimestamp: number;
  readonly extendedFileMetadata: true;
}

export interface CommitInfo {
  /** The `data_version` as a time; strictly increasing. */
  readonly inCommitTimestamp: number;
  readonly timestamp: number;
  /** The names that engines use: rows were written, or only files were joined. */
  readonly operation: "WRITE" | "OPTIMIZE";
  /** The version of the lake whose rows the table has since this commit. */
  readonly operationParameters: {
    readonly data_version: string;
    readonly sequence: string;
    readonly reason: string;
    readonly rows: string;
  };
  readonly engineInfo: "Tapehouse";
}

export type Action =
  | { readonly commitInfo: CommitInfo }
  | { readonly protocol: Protocol }
  | { readonly metaData: MetaData }
  | { readonly add: Add }
  | { readonly remove: Remove };

export const encodeActions = (actions: readonly Action[]): Uint8Array =>
  Buffer.from(actions.map((action) => `${JSON.stringify(action)}\n`).join(""));

/** A log that cannot be replayed. It is written again from the lake. */
export class DamagedLogError extends OperatorError {
  constructor(key: string) {
    super(`${key} is missing or damaged, or another program wrote it; to start the table over, run: tapehouse delta`);
    this.name = "DamagedLogError";
  }
}

/** Throws a DamagedLogError if it is not a commit of ours. */
export function decodeActions(bytes: Uint8Array, key: string): readonly Action[] {
  try {
    const lines = Buffer.from(bytes).toString("utf8").trimEnd().split("\n");
    const actions = lines.map((line) => JSON.parse(line) as Action);
    const [first] = actions;
    if (first && "commitInfo" in first && isOurs(first.commitInfo)) return actions;
  } catch {
    // Not JSON.
  }
  throw new DamagedLogError(key);
}

const isOurs = ({ engineInfo, inCommitTimestamp, operationParameters }: CommitInfo): boolean =>
  engineInfo === "Tapehouse" && Number.isSafeInteger(inCommitTimestamp) && /^\d+$/.test(operationParameters.sequence);
