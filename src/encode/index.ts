// Which encoder makes which format.
import { jsonEncoder } from "./json.js";
import type { Encoder, Head } from "./types.js";

export const ENCODERS: Record<string, (head: Head) => Encoder> = { json: jsonEncoder };
