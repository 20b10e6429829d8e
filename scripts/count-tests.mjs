// Prints the last line of `.ci/run` and sets its exit code. Arguments: vitest's JSON file, vitest's exit code, number
// of failed steps.
import { readFileSync } from "node:fs";

const [file, exitCode, broken] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, testResults = [] } = text ? JSON.parse(text) : {};

// A file that does not load, or an error outside tests, fails the run without a failed test.
const unloaded = testResults.filter((result) => result.status === "failed" && result.assertionResults.length === 0);
const failedInTests = numFailedTests + unloaded.length || (exitCode === "0" ? 0 : 1);
const failed = failedInTests + Number(broken);

console.log(`${numPassedTests} passed, ${failed} failed${numPendingTests ? `, ${numPendingTests} skipped` : ""}`);
process.exit(failed ? 1 : 0);
