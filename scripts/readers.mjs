// Builds the programs of test/readers that read responses in other languages.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildPrograms, root } from "./programs.mjs";

const COPY_LIBRARIES = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/** The commands for each folder of test/readers. */
const READERS = {
  rust: (to) => ({
    download: [["cargo", "fetch", "--quiet"]],
    build: [["cargo", "build", "--release", "--offline", "--quiet", "--target-dir", to]],
  }),
  go: (to) => ({
    download: [["go", "mod", "download"]],
    build: [["go", "build", "-o", join(to, "readers"), "."]],
  }),
  java: (to) => ({
    download: [["mvn", "--quiet", "--batch-mode", COPY_LIBRARIES, `-DoutputDirectory=${to}/lib`]],
    build: [["javac", "-cp", `${to}/lib/*`, "-d", `${to}/classes`, "Readers.java"]],
  }),
};

buildPrograms(
  Object.fromEntries(
    Object.entries(READERS).map(([name, commandsFor]) => {
      const from = join(root, "test/readers", name);
      return [name, { from, identity: hashOf(from), commandsFor }];
    }),
  ),
);

/** What identifies the sources in a folder. */
function hashOf(folder) {
  const hash = createHash("sha256");
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== "Cargo.lock",
  );
  for (const path of names.map((entry) => join(entry.parentPath, entry.name)).sort()) hash.update(readFileSync(path));
  return hash.digest("hex");
}
