// GET /health: public. A store is true while every file of its entities that was opened is what it should be.
import type { RequestHandler } from "express";
import { ENTITIES } from "../catalog/index.js";
import { STORES, type Store } from "../catalog/types.js";
import type { Context } from "./context.js";

export function healthHandler(context: Context): RequestHandler {
  return (_req, res) => {
    const damaged = new Set<Store>();
    for (const path of context.integrity.damaged()) {
      const entity = ENTITIES.find((candidate) => path.startsWith(`${candidate.name}/`));
      if (entity) damaged.add(entity.store);
    }
    res.setHeader("Cache-Control", "no-store");
    res.json({
      status: damaged.size === 0 ? "ok" : "degraded",
      data_version: context.lake.current().version.data_version,
      databases: Object.fromEntries(STORES.map((store) => [store, !damaged.has(store)])),
    });
  };
}
