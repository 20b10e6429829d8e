// Many small requests at once from a client in another process, so that its processor time is not the server's.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Asked {
  readonly urls: readonly string[];
  /** How many requests are under way at any time, each on its own connection. */
  readonly connections: number;
}

export interface Load {
  /** Of each response, from the request to the last byte. */
  readonly milliseconds: readonly number[];
  readonly seconds: number;
  /** Seconds of the client's processor time. */
  readonly processor: number;
}

/** Calls `use` with a function that asks for all URLs. It throws unless all responses are complete and 200. */
export async function withLoadClient<T>(use: (load: (asked: Asked) => Promise<Load>) => Promise<T>): Promise<T> {
  const child = fork(fileURLToPath(new URL("load-client.ts", import.meta.url)));
  const kill = (): void => void child.kill();
  process.once("exit", kill);
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the client has ended")));
  ended.catch(() => undefined);
  try {
    return await use(async (asked) => {
      child.send(asked);
      const [answer] = (await Promise.race([once(child, "message"), ended])) as [Load | { error: string }];
      if ("error" in answer) throw new Error(answer.error);
      return answer;
    });
  } finally {
    process.off("exit", kill);
    kill();
  }
}
