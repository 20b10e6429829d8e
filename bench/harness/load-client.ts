// An HTTP client in a process of its own, for `load.ts`: it asks for the URLs that its parent sends, on several
// connections at once, and reports the time of each response and its own processor time.
import { smallClient, type SmallClient } from "./small.js";
import type { Asked, Load } from "./load.js";

/** Connections stay open from one message to the next. */
const clients = new Map<number, SmallClient>();

function clientOf(connections: number): SmallClient {
  const client = clients.get(connections) ?? smallClient(connections);
  clients.set(connections, client);
  return client;
}

async function load({ urls, connections }: Asked): Promise<Load> {
  const client = clientOf(connections);
  const milliseconds: number[] = [];
  let next = 0;
  const askOneAfterAnother = async (): Promise<void> => {
    while (next < urls.length) milliseconds.push(await client.ask(urls[next++]!));
  };
  const before = process.cpuUsage();
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, askOneAfterAnother));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { milliseconds, seconds, processor: (user + system) / 1e6 };
}

process.on("message", (asked: Asked) => {
  load(asked).then(
    (done) => process.send!(done),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
