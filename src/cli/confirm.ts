// Asks before a command changes what is served.
import { createInterface } from "node:readline/promises";
import { OperatorError } from "../errors.js";

/** Where the question is written, and where the answer comes from. */
interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Resolves if the answer is yes. Throws an OperatorError if it is not, or if there is nobody to ask. */
export async function confirm(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (!input.isTTY || !output.isTTY) {
    throw new OperatorError("nothing was changed: add --yes to do this, or --dry-run to only look", 2);
  }
  const terminal = createInterface({ input, output });
  try {
    // Without an answer, as at the end of the input, it is no.
    const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
    const answer = await Promise.race([terminal.question(`${question} [y/N] `), ended]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError("nothing was changed");
  } finally {
    terminal.close();
  }
}
