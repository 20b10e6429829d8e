// Ends a failing run with the names of what failed, so that the last lines of the output tell them.
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** Tests that failed, and files and groups that failed outside of their tests. */
function* failuresOf(module: TestModule): Generator<string> {
  const file = module.relativeModuleId;
  if (module.errors().length > 0) yield file;
  for (const suite of module.children.allSuites()) if (suite.errors().length > 0) yield `${file} > ${suite.fullName}`;
  for (const test of module.children.allTests("failed")) yield `${file} > ${test.fullName}`;
}

export default class FailedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const failures = modules.flatMap((module) => [...failuresOf(module)]);
    failures.push(...errors.map(({ message }) => `outside of the tests: ${message}`));
    if (failures.length > 0) process.stdout.write(["Failed:", ...failures, ""].join("\n"));
  }
}
