// Files that the pages use from packages, copied with their licences, so that pages load nothing from other hosts.

/** Name below dist/web/vendor → file below node_modules. */
export const VENDOR = {
  "lightweight-charts.js": "lightweight-charts/dist/lightweight-charts.standalone.production.mjs",
  "lightweight-charts.LICENSE.txt": "lightweight-charts/LICENSE",
  "swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
  "swagger-ui-bundle.js.LICENSE.txt": "swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt",
  "swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
  "swagger-ui.LICENSE.txt": "swagger-ui-dist/LICENSE",
  "swagger-ui.NOTICE.txt": "swagger-ui-dist/NOTICE",
};
