// Exits with 0 if the server in this container answers. Reads the same environment variables as `tapehouse serve`.
import http from "node:http";
import https from "node:https";

const { TAPEHOUSE_PORT = "8080", TAPEHOUSE_TLS_CERT: certificate = "none" } = process.env;
// Kubernetes may set the variable to the address of a service, which the server ignores.
const port = TAPEHOUSE_PORT.includes("://") ? "8080" : TAPEHOUSE_PORT;
const [scheme, { get }] = certificate === "none" ? ["http", http] : ["https", https];
const url = `${scheme}://127.0.0.1:${port}/health`;

// The certificate is for another name than 127.0.0.1, so it is not verified.
const request = get(url, { rejectUnauthorized: false, timeout: 4_000 }, (answer) => {
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
  answer.pipe(process.stdout);
});
request.on("timeout", () => request.destroy(new Error("no answer within 4 seconds")));
request.on("error", (error) => {
  console.error(`${url}: ${error.message}`);
  process.exitCode = 1;
});
