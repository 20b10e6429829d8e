// Objects that kustomize makes of deploy/kubernetes, and their validation. Tests that need it are skipped unless
// `node scripts/kubernetes.mjs` has built the programs.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { realpathSync } from "node:fs";
import { temporaryFolder } from "./folders.js";

const ROOT = join(import.meta.dirname, "../..");
const KUSTOMIZE = join(ROOT, ".readers/kustomize/kustomize");
const PYTHON = join(ROOT, ".readers/kubernetes-validate/bin/python");

export const FILES = join(ROOT, "deploy/kubernetes");

export const hasKustomize = existsSync(KUSTOMIZE) && existsSync(PYTHON);

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom?: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas?: number;
    readonly selector: Readonly<Record<string, string>>;
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly enableServiceLinks?: boolean;
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit: string } }[];
      };
    };
  };
}

/** What `kubectl kustomize` prints for a folder. Throws if it refuses. */
export const kustomize = (folder: string): string => execFileSync(KUSTOMIZE, ["build", folder], { encoding: "utf8" });

/** What it prints for a folder of ours with components. */
export async function withComponents(base: string, ...components: readonly string[]): Promise<string> {
  const folder = realpathSync(await temporaryFolder());
  const path = (name: string): string => relative(folder, join(FILES, name));
  const kustomization = {
    resources: [path(base)],
    components: components.map((name) => path(join("components", name))),
    configMapGenerator: [{ name: "tapehouse", literals: ["TAPEHOUSE_DATA=s3://market/lake"] }],
  };
  await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
  return kustomize(folder);
}

const READ = "import json, sys, yaml; print(json.dumps([one for one in yaml.safe_load_all(sys.stdin) if one]))";

export const objectsIn = (text: string): readonly KubernetesObject[] =>
  JSON.parse(execFileSync(PYTHON, ["-c", READ], { input: text, encoding: "utf8" })) as readonly KubernetesObject[];

/** What a version of Kubernetes would refuse, unknown fields included; empty if nothing. */
export async function faultsIn(text: string, version: string): Promise<string> {
  const file = join(await temporaryFolder(), "objects.yaml");
  await writeFile(file, text);
  const args = ["-m", "kubernetes_validate", "--strict", "--quiet", "--kubernetes-version", version, file];
  const { status, stdout, stderr } = spawnSync(PYTHON, args, { encoding: "utf8" });
  return status === 0 ? "" : `${stdout}${stderr}`;
}

/** Bytes of a quantity such as `4Gi`. */
export function bytesIn(quantity: string): number {
  const [, count, unit = ""] = /^(\d+)(Ki|Mi|Gi|)$/.exec(quantity)!;
  return Number(count) * 1024 ** ["", "Ki", "Mi", "Gi"].indexOf(unit);
}
