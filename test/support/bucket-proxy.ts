// A proxy in front of an S3 server which slows, cuts, loses and refuses what a test tells it to.
import { once } from "node:events";
import { createServer, request as requestHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, type Socket } from "node:net";
import { PassThrough, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
}

export interface Fault {
  /** Milliseconds before the request is passed on. */
  readonly delay?: number;
  /** Bytes of the response a second, for each connection. */
  readonly bandwidth?: number;
  /** The connection ends after this many bytes of the response body. */
  readonly cutAfter?: number;
  /** The server carries the request out; its response is lost. */
  readonly isLost?: boolean;
  /** The request gets this status instead of reaching the server. */
  readonly status?: number;
  /** The body of that response. */
  readonly body?: string;
  /** The request gets no response at all. */
  readonly hangs?: boolean;
  /** Headers that the server gets instead of those that arrived. */
  readonly headers?: IncomingMessage["headers"];
  /** A byte of the request body is changed on its way. */
  readonly damages?: boolean;
}

export interface BucketProxy {
  readonly url: string;
  /** All requests since the test began, in the order of their arrival. */
  readonly requests: Seen[];
  /** The largest number of connections that were open at once. */
  readonly mostConnections: () => number;
  /** What happens to a request; nothing by default. It may also do something itself, for which the request waits. */
  fault: (seen: Seen) => Fault | undefined | Promise<Fault | undefined>;
  /** Refuses connections, and cuts those that are open. */
  leave(): Promise<void>;
  /** Listens again. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** A proxy before the server that listens on a Unix socket. */
export async function openBucketProxy(socketPath: string): Promise<BucketProxy> {
  const open = new Set<Socket>();
  let most = 0;
  let port = 0;
  const proxy = {
    url: "",
    requests: [] as Seen[],
    mostConnections: () => most,
    fault: (_: Seen): Fault | undefined | Promise<Fault | undefined> => undefined,
    async leave() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
    async comeBack() {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      ({ port } = server.address() as AddressInfo);
      proxy.url = `http://127.0.0.1:${port}`;
    },
    async close() {
      if (server.listening) await proxy.leave();
    },
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const seen = { method: request.method ?? "", path: request.url ?? "", headers: request.headers };
    proxy.requests.push(seen);
    const forwarded = async (): Promise<void> =>
      forward(socketPath, request, response, (await proxy.fault(seen)) ?? {});
    forwarded().catch(() => response.destroy());
  };
  const server = createServer(handle);
  server.on("checkContinue", handle);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    most = Math.max(most, open.size);
    socket.once("close", () => open.delete(socket));
  });
  await proxy.comeBack();
  return proxy;
}

async function forward(
  socketPath: string,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault,
): Promise<void> {
  if (fault.delay) await sleep(fault.delay);
  if (fault.hangs) return;
  if (fault.status !== undefined) {
    response.writeHead(fault.status, { "content-type": "application/xml" }).end(fault.body ?? "");
    return;
  }
  const { method, url: path } = request;
  const headers = fault.headers ?? request.headers;
  const upstream = requestHttp({ socketPath, method, path, headers });
  const answered = once(upstream, "response") as Promise<[IncomingMessage]>;
  const send = (): Promise<void> =>
    pipeline(request, fault.damages ? damage() : new PassThrough(), upstream).catch((error: unknown) => {
      // The server may refuse a request before all of it has arrived.
      if ((error as NodeJS.ErrnoException).code !== "EPIPE") upstream.destroy(error as Error);
    });
  if (headers.expect === undefined) void send();
  else {
    upstream.flushHeaders();
    upstream.once("continue", () => {
      response.writeContinue();
      void send();
    });
  }
  const [answer] = await answered;
  if (fault.isLost) {
    await once(answer.resume(), "end");
    request.socket.destroy();
    return;
  }
  response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
  response.flushHeaders();
  let sent = 0;
  const began = performance.now();
  for await (const piece of answer as AsyncIterable<Buffer>) {
    const left = (fault.cutAfter ?? Infinity) - sent;
    const part = piece.subarray(0, left);
    sent += part.length;
    if (part.length > 0 && !response.write(part)) await once(response, "drain");
    if (left <= piece.length && fault.cutAfter !== undefined) {
      response.socket?.end();
      return;
    }
    const due = fault.bandwidth ? (sent / fault.bandwidth) * 1_000 - (performance.now() - began) : 0;
    if (due > 2) await sleep(due);
  }
  response.end();
}

function damage(): Transform {
  let isDone = false;
  return new Transform({
    transform(bytes: Buffer, _, done) {
      if (!isDone && bytes.length > 0) bytes[0] = bytes[0]! ^ 1;
      isDone = true;
      done(null, bytes);
    },
  });
}
