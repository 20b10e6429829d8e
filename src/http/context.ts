// What every handler is given.
import type { ServerConfig } from "../config.js";
import type { Calendars } from "../engine/calendars.js";
import type { GapFinder } from "../engine/gaps.js";
import type { Reader } from "../engine/reader.js";
import type { Integrity } from "../lake/integrity.js";
import type { Lake } from "../lake/lake.js";
import type { TokenStore } from "../lake/tokens.js";

export interface Context {
  readonly config: ServerConfig;
  readonly lake: Lake;
  readonly reader: Reader;
  readonly calendars: Calendars;
  readonly gaps: GapFinder;
  readonly tokens: TokenStore;
  readonly integrity: Integrity;
  readonly now: () => Date;
  /** Failures that are ours, for the operator's log. Never shown to clients. */
  readonly log: (message: string) => void;
}
