// Gets the programs with which a test reads deploy/kubernetes: kustomize, and a validator that brings the schemas along.
import { join } from "node:path";
import { buildPrograms, root } from "./programs.mjs";

const KUSTOMIZE = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.1";
const VALIDATOR = "kubernetes-validate==1.37.0";

buildPrograms({
  kustomize: {
    from: root,
    identity: KUSTOMIZE,
    commandsFor: (to) => ({
      download: [["go", "mod", "download", KUSTOMIZE]],
      build: [["go", "install", KUSTOMIZE]],
      env: { GOBIN: to },
    }),
  },
  "kubernetes-validate": {
    from: root,
    identity: VALIDATOR,
    commandsFor: (to) => ({
      download: [
        ["python3", "-m", "venv", to],
        [join(to, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", VALIDATOR],
      ],
      build: [],
    }),
  },
});
