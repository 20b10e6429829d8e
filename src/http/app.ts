// All routes, in one place.
import type { RequestListener } from "node:http";
import express, { type Express, type Request } from "express";
import { BEARER, requireToken, type TokenSource } from "./auth.js";
import { createWrongTokens, limitRate, refuseExcess } from "./limits.js";
import { limitLarge } from "./large.js";
import { allowOrigins, secureHeaders } from "./headers.js";
import { calendarHandler, shiftHandler } from "./calendar.js";
import { changesHandler, historyHandler } from "./changes.js";
import { checksHandler } from "./checks.js";
import type { Context } from "./context.js";
import { gapsHandler } from "./gaps.js";
import { entityHandler } from "./rows.js";
import { healthHandler, metricsHandler, metaHandler, versionsHandler } from "./meta.js";
import { observe } from "./observe.js";
import { openApiHandler } from "./openapi/index.js";
import { panelHandler } from "./panel.js";
import { pageRoutes } from "./pages.js";
import { closeWithConnection, limitStall } from "./respond.js";
import { addSqlRoutes } from "./sql.js";
import { statisticsHandler } from "./statistics.js";
import { addQueryRoutes } from "./queries.js";
import { addTushareRoutes } from "./tushare.js";
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
  const large = limitLarge(context.config);
  const known = (source: TokenSource) => [requireToken(context, wrongTokens, source), rate];
  const authorized = (source: TokenSource) => [...known(source), large];
  const api = express.Router({ caseSensitive: true });
  api.use(authorized(BEARER));
  api.get("/meta", metaHandler(context));
  api.get("/versions", versionsHandler(context));
  api.get("/calendar", calendarHandler(context));
  api.get("/calendar/shift", shiftHandler(context));
  api.get("/panel", panelHandler(context));
  api.get("/entities/:entity", entityHandler(context));
  api.get("/entities/:entity/gaps", gapsHandler(context));
  api.get("/entities/:entity/changes", changesHandler(context));
  api.get("/entities/:entity/versions", historyHandler(context));
  api.get("/entities/:entity/checks", checksHandler(context));
  api.get("/entities/:entity/statistics", statisticsHandler(context));
  api.use(notFound);

  addTushareRoutes(app, context, authorized);
  addQueryRoutes(app, context, known(BEARER), large);
  addSqlRoutes(app, context, known(BEARER), large);
  app.use(onlyGet);
  app.get("/health", healthHandler(context));
  app.get("/openapi.json", openApiHandler(context.config));
  app.get("/metrics", authorized(BEARER), metricsHandler(context));
  app.use("/api/v1", api);
  app.use(pageRoutes());
  app.use(notFound);
  app.use(problemHandler(context));
  return app;
}

/**
 * Passes requests to the application by their path alone: Express reads the whole URL again for each of its routers.
 * Handlers find the query in `originalUrl`.
 */
export function routedByPath(app: Express): RequestListener {
  return (message, res) => {
    const req = message as Request;
    const at = req.url.indexOf("?");
    req.originalUrl = req.url;
    if (at >= 0) req.url = req.url.slice(0, at);
    app(req, res);
  };
}
