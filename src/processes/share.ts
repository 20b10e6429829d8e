// One worker's share of the limits that are for the whole server.
import { bytesOf, type ServerConfig } from "../config.js";

/** At least one of everything that is counted, so with few of it and many workers the sum may be more. */
export function shareOf(config: ServerConfig): ServerConfig {
  const part = (whole: number, least = 1): number => Math.max(least, Math.floor(whole / config.workers));
  const partOrNone = (whole: number | null): number | null => (whole === null ? null : part(whole));
  const partOfSize = (whole: string): string => `${part(bytesOf(whole) / 1e6)}MB`;
  return {
    ...config,
    memory: partOfSize(config.memory),
    spill: partOfSize(config.spill),
    concurrency: part(config.concurrency),
    streams: part(config.streams),
    queue: part(config.queue, 0),
    connections: part(config.connections),
    tokenStreams: partOrNone(config.tokenStreams),
    rateLimit: partOrNone(config.rateLimit),
  };
}
