// The files of dist/web for browsers. They contain no data, so they need no token.
import { fileURLToPath } from "node:url";
import express, { type RequestHandler, type Response, type Router } from "express";
import { ENTITIES } from "../catalog/index.js";
import { FORMAT_NAMES } from "../catalog/formats.js";
import { kindsOf, parametersOf } from "../catalog/parameters.js";
import { UNITS } from "../catalog/types.js";
import { PROBLEMS } from "../errors.js";
import type { Catalog } from "../web/types.js";
import { fixedJson } from "./respond.js";

/** The pages `/` and `/docs`, and what they need under `/web`. */
export function pageRoutes(): Router {
  const router = express.Router({ caseSensitive: true });
  router.use(dropPreconditions);
  router.use("/web/catalog.json", catalogHandler());
  router.use("/web", pageParts);
  router.use(pages, toDocs);
  return router;
}

/** Made by `npm run build`. The path is the same from src and from dist. */
const FOLDER = fileURLToPath(new URL("../../dist/web/", import.meta.url));

/** Only scripts, styles and responses of this server; nothing inline, nothing evaluated from text. */
const OWN = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "connect-src": "'self'",
  "img-src": "'self' data:",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

/** Our own pages never create markup from text. */
const PAGE = { ...OWN, "require-trusted-types-for": "'script'", "trusted-types": "'none'" };

const policy = (rules: Readonly<Record<string, string>>): string =>
  Object.entries(rules)
    .map(([name, value]) => `${name} ${value}`)
    .join("; ");

function setHeaders(res: Response, path: string): void {
  res.setHeader("Cache-Control", "no-cache");
  if (path.endsWith(".html")) {
    res.setHeader("Content-Security-Policy", policy(path.endsWith("docs.html") ? OWN : PAGE));
  }
}

/** Files are small and never sent in ranges. */
const options = { acceptRanges: false, cacheControl: false, redirect: false, setHeaders };

/**
 * Ignores preconditions for writes: `express.static` would answer them with an error that is not a problem document.
 */
const dropPreconditions: RequestHandler = ({ headers }, _res, next) => {
  delete headers["if-match"];
  delete headers["if-unmodified-since"];
  next();
};

/** `/` and `/docs`. */
const pages: RequestHandler = express.static(`${FOLDER}pages`, { ...options, extensions: ["html"] });

/** Redirects `/docs/` to `/docs`, where the page's relative URLs work, even behind a proxy that adds a path prefix. */
const toDocs: RequestHandler = (req, res, next) => {
  if (req.path !== "/docs/") {
    next();
    return;
  }
  res.setHeader("Cache-Control", "no-cache");
  res.redirect(308, "../docs");
};

/** The scripts and styles of the pages. */
const pageParts: RequestHandler = express.static(FOLDER, { ...options, index: false });

/** The entities as the pages need them before a token is entered; `/openapi.json` publishes the same. */
function catalogHandler(): RequestHandler {
  const entities: Catalog["entities"] = ENTITIES.map((entity) => ({
    ...{ name: entity.name, title: entity.title, about: entity.about, chinese: entity.chinese, store: entity.store },
    columns: entity.columns.map(({ name, type, nullable, meaning, chinese, unit }) => ({
      ...{ name, type, nullable, meaning, chinese },
      ...(unit === undefined ? {} : { unit }),
    })),
    ...{ code: entity.code, gaps: entity.gaps, parameters: kindsOf(entity) },
    filters: parametersOf(entity).flatMap((one) =>
      one.kind === "filter" ? [{ name: one.name, column: one.column.name }] : [],
    ),
  }));
  const problems = Object.fromEntries(Object.entries(PROBLEMS).map(([code, { chinese }]) => [code, chinese]));
  return fixedJson({ entities, formats: FORMAT_NAMES, units: UNITS, problems } satisfies Catalog);
}
