// tapehouse token create | list | revoke
import { Command } from "commander";
import { layoutOf } from "../lake/layout.js";
import { readTokens, SQL } from "../lake/tokens.js";
import { createToken, revokeToken } from "../store/tokens.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { note, printJson, say, printTable } from "./out.js";

interface CreateOptions {
  readonly data: string;
  readonly entities?: string;
  readonly sql?: boolean;
  readonly expires?: string;
  readonly json?: boolean;
}

export function tokenCommand(): Command {
  const command = new Command("token").description("Create, list and revoke access tokens.");
  command
    .command("create <name>")
    .description("Create a token and print it. It is not shown again.")
    .option(
      "--entities <a,b>",
      "entities that it may read, all by default; trade_cal for the calendar, metrics for /metrics",
    )
    .option("--sql", "it may also run SQL over these entities; a token for everything may in any case")
    .option("--expires <span>", "how long it is valid, e.g. 90d or 12h")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse token create alice --entities daily,adj_factor --expires 90d")
    .action(async (name: string, options: CreateOptions) => {
      const named = options.entities?.split(",").map((entity) => entity.trim()) ?? null;
      const entities = named && options.sql ? [...new Set([...named, SQL])] : named;
      const token = await createToken(options.data, name, { entities, expires: options.expires ?? null }, new Date());
      if (options.json) printJson({ name, token });
      else say(token);
    });
  command
    .command("list")
    .description("List the tokens by name. Their secrets are not stored.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse token list --json")
    .action(async (options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      const { tokens, faults } = await readTokens(layoutOf(options.data).tokens);
      note(faults.map((fault) => `warning: ${fault}`));
      const rows = tokens.map(({ name, entities, expires, created }) => ({
        name,
        entities: entities?.join(",") ?? "all",
        expires: expires ?? "never",
        created,
      }));
      printTable(rows, {
        json: options.json,
        none: "there are no tokens yet; create one with: tapehouse token create NAME",
        shortenable: ["entities", "name", "created"],
      });
    });
  command
    .command("revoke <name>")
    .description("Revoke a token. A running server refuses it within a second.")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ tapehouse token revoke alice")
    .action(async (name: string, options: { data: string; json?: boolean }) => {
      await requireLake(options.data);
      await revokeToken(options.data, name);
      if (options.json) printJson({ name, state: "revoked" });
      else note(`token ${name} is revoked`);
    });
  return command;
}
