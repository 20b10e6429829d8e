// A small demo market: every entity has rows.
import { makeDemo } from "../../src/cli/demo.js";
import { temporaryFolder } from "./folders.js";

/** The folder of a lake with 12 stocks. With 500 days, from the end of 2023 to that of 2025, the description's examples find rows. */
export async function demoLake({ days }: { readonly days: number }): Promise<string> {
  const root = await temporaryFolder();
  await makeDemo(root, { stocks: 12, days, seed: 1, memory: "1GB" });
  return root;
}
