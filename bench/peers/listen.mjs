// The start of every peer: it listens on a free port of the loopback interface, prints it, and runs until SIGTERM.
import express from "express";

/** Serves GET / by `answer(query, response)`; a failure before the first byte is a 500 with its message. */
export function listen(answer) {
  const app = express();
  app.get("/", (req, res) =>
    answer(req.query, res).catch((error) => {
      if (res.headersSent) res.destroy();
      else res.status(500).send(String(error));
    }),
  );
  const server = app.listen(0, "127.0.0.1", () => {
    process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
  });
  process.once("SIGTERM", () => process.exit(0));
}
