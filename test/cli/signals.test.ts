import { afterEach, expect, test, vi } from "vitest";
import { untilSignal } from "../../src/cli/signals.js";

afterEach(() => void vi.restoreAllMocks());

test("where a signal that nobody handles does nothing, as in the first process of a container, the process exits with its number", async () => {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  const exit = vi.spyOn(process, "exit").mockImplementation((code) => {
    throw new Error(`exit ${code}`);
  });
  const work = async (signal: AbortSignal): Promise<string> => {
    process.emit("SIGTERM", "SIGTERM");
    expect(signal.aborted).toBe(true);
    return "a result that is none";
  };
  await expect(untilSignal(work)).rejects.toThrow("exit 143");
  expect(kill).toHaveBeenCalledExactlyOnceWith(process.pid, "SIGTERM");
  expect(exit).toHaveBeenCalledExactlyOnceWith(143);
});
