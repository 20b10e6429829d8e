// Installs the cluster that tests of SQL on a cluster run: Sail, as a package of Python in an environment of its own.
import { join } from "node:path";
import { buildPrograms, root } from "./programs.mjs";

const VERSION = "0.7.2";

buildPrograms({
  sail: {
    from: root,
    identity: VERSION,
    commandsFor: (to) => ({
      download: [
        ["python3", "-m", "venv", to],
        [join(to, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", `pysail==${VERSION}`],
      ],
      build: [],
    }),
  },
});
