// All routes on one screen.
import express, { type Express } from "express";
import { BEARER, requireToken } from "./auth.js";
import { refuseExcess } from "./connections.js";
import { allowOrigins } from "./cors.js";
import { calendarHandler, shiftHandler } from "./calendar.js";
import type { Context } from "./context.js";
import { entityHandler } from "./entities.js";
import { gapsHandler } from "./gaps.js";
import { healthHandler } from "./health.js";
import { secureHeaders } from "./headers.js";
import { limitRate, limitStall } from "./limits.js";
import { metaHandler } from "./meta.js";
import { metricsHandler } from "./metrics-page.js";
import { observe } from "./observe.js";
import { openApiHandler } from "./openapi/index.js";
import { packageVersion } from "./package.js";
import { catalogHandler, dropPreconditions, pageParts, pages, toDocs } from "./pages.js";
import { startTiming } from "./timing.js";
import { closeWithConnection } from "./pipelining.js";
import { versionsHandler } from "./versions.js";
import { BODY, onlyPost, readBody, TUSHARE_PATHS, tushareHandler, tushareProblem } from "./tushare.js";
import { requireWellFormed } from "./well-formed.js";
import { createWrongTokens } from "./wrong-tokens.js";
import { notFound, onlyGet, problemHandler } from "./problem.js";

export function createApp(context: Context): Express {
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.use(closeWithConnection, startTiming, observe(context));
  app.use(secureHeaders(context.config.tls !== null), limitStall(context.config.stall));
  app.use(refuseExcess, requireWellFormed, allowOrigins(context.config.corsOrigins));

  // Wrong tokens and rates are counted together, whichever route is asked.
  const wrong = createWrongTokens(context.config.wrongTokens);
  const rate = limitRate(context.config.rateLimit);
  const known = [requireToken(context, wrong, BEARER), rate];
  const api = express.Router({ caseSensitive: true });
  api.use(...known);
  api.get("/meta", metaHandler(context));
  api.get("/versions", versionsHandler(context));
  api.get("/calendar", calendarHandler(context));
  api.get("/calendar/shift", shiftHandler(context));
  api.get("/entities/:entity", entityHandler(context));
  api.get("/entities/:entity/gaps", gapsHandler(context));
  api.use(notFound);

  const asked = [...readBody, requireToken(context, wrong, BODY), rate, tushareHandler(context)];
  for (const path of TUSHARE_PATHS) app.route(path).post(asked, tushareProblem(context)).all(onlyPost);

  app.use(onlyGet, dropPreconditions);
  app.get("/health", healthHandler(context));
  app.get("/openapi.json", openApiHandler(packageVersion(), context.config));
  app.get("/metrics", ...known, metricsHandler(context));
  app.use("/api/v1", api);
  app.use("/web/catalog.json", catalogHandler());
  app.use("/web", pageParts);
  app.use(pages, toDocs);
  app.use(notFound);
  app.use(problemHandler(context));
  return app;
}
