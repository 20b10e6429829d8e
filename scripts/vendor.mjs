// What the pages take from packages as it is, copied with its licences, so that they ask no other host.

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
