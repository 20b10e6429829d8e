// deploy/kubernetes, as kustomize puts it together: Kubernetes accepts it, and the server understands what it is given.
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { memoryNeeded, readConfig, type ServerConfig } from "../../src/config.js";
import { envOf, SETTING_NAMES } from "../../src/settings.js";
import { bytesOf } from "../../src/setting-values.js";
import { bytesIn, faultsIn, hasKustomize, kustomize, objectsIn, withComponents } from "../support/kubernetes.js";
import { FILES, type Container, type KubernetesObject } from "../support/kubernetes.js";

/** The oldest and the newest version whose schemas are looked at. */
const VERSIONS = ["1.30.0", "1.37.0"];
const MACHINE = { cores: 2, memory: 64e9, addresses: Infinity };

const reason = "(skipped: node scripts/kubernetes.mjs gets the programs)";

describe.skipIf(!hasKustomize)(hasKustomize ? "deploy/kubernetes" : `deploy/kubernetes ${reason}`, () => {
  const named = (objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject =>
    objects.find((one) => one.kind === kind && one.metadata.name === name)!;
  const base = (): readonly KubernetesObject[] => objectsIn(kustomize(`${FILES}/base`));
  const SERVERS = [
    ["Deployment", "tapehouse-writer"],
    ["StatefulSet", "tapehouse-replica"],
  ] as const;
  const serverOf = (kind: string, name: string) => {
    const pod = named(base(), kind, name).spec.template.spec;
    const [container] = pod.containers;
    return { pod, container: container!, config: configOf(container!) };
  };

  test.each([
    ["the base", () => kustomize(`${FILES}/base`)],
    ["the example", () => kustomize(`${FILES}/example`)],
    ["autoscaling", () => withComponents("base", "autoscaling")],
  ])("%s has only fields that Kubernetes knows", async (_name, make) => {
    const text = await make();
    for (const version of VERSIONS) expect(await faultsIn(text, version)).toBe("");
  });

  test("the validator refuses a field that does not exist", async () => {
    const text = kustomize(`${FILES}/base`).replace("failureThreshold", "failureTreshold");
    expect(await faultsIn(text, VERSIONS[0]!)).toContain("failureTreshold");
  });

  test.each(SERVERS)("%s %s sets only variables and options that serve has", async (kind, name) => {
    const { container } = serverOf(kind, name);
    const variables = container.env!.map((one) => one.name);
    expect(variables.filter((one) => !SETTING_NAMES.map(envOf).includes(one))).toEqual([]);
    const serve = (await createProgram("serve")).commands[0]!;
    const [command, ...options] = container.args!;
    expect(command).toBe("serve");
    expect(options.filter((one) => !serve.options.some(({ long }) => long === one))).toEqual([]);
  });

  test.each(SERVERS)("%s %s gets the memory that its settings need", (kind, name) => {
    const { container, config } = serverOf(kind, name);
    const watch = !container.args!.includes("--no-watch");
    expect(memoryNeeded({ ...config, watch, bucket: config.data })).toBeLessThan(
      bytesIn(container.resources.limits.memory),
    );
  });

  test.each(SERVERS)("%s %s has a volume for all that it may write", (kind, name) => {
    const { pod, container, config } = serverOf(kind, name);
    const imports = container.args!.includes("--no-watch") ? 0 : bytesOf(config.ingestSpill) + config.maxDrop;
    const sizes = [config.mirrorSize, config.copies, config.cache, bytesOf(config.spill), imports].map(Number);
    const { sizeLimit } = pod.volumes.find((one) => one.name === "local")!.emptyDir!;
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(bytesIn(sizeLimit));
    const places = container.volumeMounts.map(({ mountPath }) => `${mountPath}/`);
    for (const folder of [config.mirror!, config.temp]) {
      expect(places.some((place) => folder.startsWith(place))).toBe(true);
    }
  });

  test.each(SERVERS)("%s %s may do nothing that it does not need", (kind, name) => {
    const { pod, container } = serverOf(kind, name);
    expect(pod).toMatchObject({
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test.each(SERVERS)("%s %s has time to complete running responses, and is asked for its health", (kind, name) => {
    const { pod, container, config } = serverOf(kind, name);
    const pause = Number(container.lifecycle?.preStop.exec.command.at(-1) ?? 0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(pause + config.grace / 1000 + 10);
    for (const probe of [container.livenessProbe, container.readinessProbe]) {
      expect(probe!.httpGet).toEqual({ path: "/health", port: "http" });
    }
  });

  test("services, the budget and the autoscaler select what is there", async () => {
    const objects = objectsIn(await withComponents("base", "autoscaling"));
    const labels = SERVERS.map(([kind, name]) => named(objects, kind, name).spec.template.metadata.labels);
    const services = objects.filter(({ kind }) => kind === "Service");
    for (const { spec } of services) {
      const isSelected = (one: Readonly<Record<string, string>>): boolean =>
        Object.entries(spec.selector).every(([key, value]) => one[key] === value);
      expect(labels.filter(isSelected)).toHaveLength(1);
    }
    const { kind, name } = objects.find((one) => one.kind === "HorizontalPodAutoscaler")!.spec.scaleTargetRef!;
    expect(named(objects, kind, name)).toBeDefined();
  });

  test("the example routes to each of its replicas by name, in its namespace", () => {
    const objects = objectsIn(kustomize(`${FILES}/example`));
    const { replicas } = named(objects, "StatefulSet", "tapehouse-replica").spec;
    const files = objects.find(({ metadata, data }) => metadata.name.startsWith("tapehouse-router") && data)!.data!;
    const servers = files["replicas.conf"]!.match(/server tapehouse-replica-\S+/g)!;
    const expected = Array.from(
      { length: replicas! },
      (_, i) => `server tapehouse-replica-${i}.tapehouse-replicas.tapehouse.svc.cluster.local:8080`,
    );
    expect(servers).toEqual(expected);
    expect(named(objects, "Service", "tapehouse").spec.selector["app.kubernetes.io/component"]).toBe("router");
  });
});

/** The configuration of a server with the variables of a container. */
const configOf = ({ env = [] }: Container): ServerConfig =>
  readConfig({}, Object.fromEntries(env.map(({ name, value }) => [name, value])), MACHINE);
