// The throughput of the loopback interface: `bytes` bytes from one buffer of 1 MiB.
import { once } from "node:events";
import { listen } from "./listen.mjs";

const buffer = Buffer.alloc(1024 * 1024, "0");

listen(async ({ bytes }, res) => {
  for (let left = Number(bytes); left > 0; left -= buffer.length) {
    if (!res.write(buffer.subarray(0, left))) await once(res, "drain");
  }
  res.end();
});
