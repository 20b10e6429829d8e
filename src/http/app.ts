// All routes, in one place.
import express, { type Express } from "express";
import { BEARER, requireToken } from "./auth.js";
import { createWrongTokens, limitRate, refuseExcess } from "./limits.js";
import { allowOrigins, secureHeaders } from "./headers.js";
import { calendarHandler, shiftHandler } from "./calendar.js";
import type { Context } from "./context.js";
import { entityHandler } from "./entities.js";
import { gapsHandler } from "./gaps.js";
import { healthHandler, metricsHandler } from "./health.js";
import { metaHandler, versionsHandler } from "./meta.js";
import { observe } from "./observe.js";
import { openApiHandler } from "./openapi/index.js";
import { packageVersion } from "./package.js";
import { catalogHandler, dropPreconditions, pageParts, pages, toDocs } from "./pages.js";
import { closeWithConnection, limitStall } from "./respond.js";
import { BODY, onlyPost, readBody, TUSHARE_PATHS, tushareHandler, tushareProblem } from "./tushare.js";
import { requireWellFormed } from "./well-formed.js";
import { notFound, onlyGet, problemHandler } from "./problem.js";

export function createApp(context: Context): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.use(closeWithConnection, observe(context.log, context.metrics));
  app.use(secureHeaders(context.config.tls !== null), limitStall(context.config.stall));
  app.use(refuseExcess, requireWellFormed, allowOrigins(context.config.corsOrigin));

  // All routes count wrongTokens tokens and requests together.
  const wrongTokens = createWrongTokens(context.config.wrongTokens);
  const rate = limitRate(context.config.rateLimit);
  const authorized = [requireToken(context, wrongTokens, BEARER), rate];
  const api = express.Router({ caseSensitive: true });
  api.use(...authorized);
  api.get("/meta", metaHandler(context));
  api.get("/versions", versionsHandler(context));
  api.get("/calendar", calendarHandler(context));
  api.get("/calendar/shift", shiftHandler(context));
  api.get("/entities/:entity", entityHandler(context));
  api.get("/entities/:entity/gaps", gapsHandler(context));
  api.use(notFound);

  const tushare = [...readBody, requireToken(context, wrongTokens, BODY), rate, tushareHandler(context)];
  for (const path of TUSHARE_PATHS) app.route(path).post(tushare, tushareProblem(context)).all(onlyPost);

  app.use(onlyGet, dropPreconditions);
  app.get("/health", healthHandler(context));
  app.get("/openapi.json", openApiHandler(packageVersion(), context.config));
  app.get("/metrics", ...authorized, metricsHandler(context));
  app.use("/api/v1", api);
  app.use("/web/catalog.json", catalogHandler());
  app.use("/web", pageParts);
  app.use(pages, toDocs);
  app.use(notFound);
  app.use(problemHandler(context));
  return app;
}
