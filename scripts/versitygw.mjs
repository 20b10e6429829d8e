// Builds the server of S3 that tests of object storage run. That takes about 7 minutes once; Go keeps what it compiled.
import { buildPrograms, root } from "./programs.mjs";

const MODULE = "github.com/versity/versitygw";
const VERSION = "v1.8.0";

buildPrograms({
  versitygw: {
    from: root,
    identity: VERSION,
    commandsFor: (to) => ({
      download: [["go", "mod", "download", `${MODULE}@${VERSION}`]],
      build: [["go", "install", `${MODULE}/cmd/versitygw@${VERSION}`]],
      env: { GOBIN: to },
    }),
  },
});
