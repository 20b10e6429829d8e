// The shape that most entities share: one row per code and trading day.
import type { Entity } from "./types.js";

export const oneRowADay = {
  mainDate: "trade_date",
  code: "ts_code",
  identity: ["ts_code", "trade_date"],
  identityIs: "row",
  order: ["trade_date", "ts_code"],
  pointInTime: null,
} as const satisfies Partial<Entity>;
