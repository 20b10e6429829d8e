// tapehouse openapi | completion: the API and the commands, described for other programs.
import { Argument, Command } from "commander";
import { ENTITY_NAMES } from "../catalog/index.js";
import { REPLACE_MODES } from "../catalog/replace.js";
import { flagOf, SETTING_NAMES, SETTINGS } from "../settings.js";
import { say, printJson } from "./out.js";
import { openApi } from "../http/openapi/index.js";

export function openApiCommand(): Command {
  return new Command("openapi")
    .description("Print the OpenAPI 3.1 description of the API, which a server has at /openapi.json.")
    .addHelpText("after", "\nExample:\n  $ tapehouse openapi > openapi.json")
    .action(() => {
      printJson(openApi(), 2);
    });
}

const SHELLS = ["bash", "zsh", "fish"] as const;

const INSTALL = `
Examples:
  $ tapehouse completion bash >> ~/.bashrc
  $ tapehouse completion zsh >> ~/.zshrc
  $ tapehouse completion fish > ~/.config/fish/completions/tapehouse.fish

The script takes effect in the next terminal.`;

/** `program` creates the commands that are completed. */
export function completionCommand(program: () => Promise<Command>): Command {
  return new Command("completion")
    .description("Print a shell script that completes commands, options and entity names.")
    .addArgument(new Argument("<shell>", "the shell to print a script for").choices(SHELLS))
    .addHelpText("after", INSTALL)
    .action(async (shell: (typeof SHELLS)[number]) => {
      say(
        SCRIPTS[shell](contextsOf(await program()))
          .trimEnd()
          .split("\n"),
      );
    });
}

/** A position of the cursor: after the words of a command. */
interface Context {
  /** E.g. `token create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly takesValue: boolean })[];
  /** Values of the arguments, in order; the last one may be repeated. */
  readonly values: readonly (readonly string[] | "files")[];
}

interface Word {
  readonly name: string;
  readonly meaning: string;
}

function contextsOf(command: Command, path: readonly string[] = []): readonly Context[] {
  const options = command.options.map(({ long, description, required }) => {
    return { name: long!, meaning: description, takesValue: required };
  });
  const context: Context = {
    path: path.join(" "),
    commands: command.commands.map((sub) => ({ name: sub.name(), meaning: sub.description() })),
    options: [...options, { name: "--help", meaning: "display help for command", takesValue: false }],
    values: command.registeredArguments.map((argument) => ARGUMENTS[argument.name()] ?? argument.argChoices ?? []),
  };
  return [context, ...command.commands.flatMap((sub) => contextsOf(sub, [...path, sub.name()]))];
}

const ARGUMENTS: Readonly<Record<string, Context["values"][number]>> = {
  entity: ENTITY_NAMES,
  file: "files",
  backup: "files",
};

/** Values of options; options that are not listed have no suggestions. */
const VALUES: Readonly<Record<string, readonly string[] | "files" | "folders">> = {
  ...Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const { offers } = SETTINGS[name];
      return offers === undefined ? [] : [[flagOf(name), offers]];
    }),
  ),
  "--replace": REPLACE_MODES,
  "--entities": [...ENTITY_NAMES, "metrics"],
  "--entity": ENTITY_NAMES,
};

const SCRIPTS: Record<(typeof SHELLS)[number], (contexts: readonly Context[]) => string> = {
  bash: bashScript,
  zsh: (contexts) =>
    `autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n${bashScript(contexts)}`,
  fish: fishScript,
};

/** Flags of `compgen` in bash, which zsh has too. */
const KINDS = { files: "-f", folders: "-d" };

const suggest = (words: readonly string[] | keyof typeof KINDS): string =>
  typeof words === "string" ? `_tapehouse_files ${KINDS[words]}` : `_tapehouse_words "${words.join(" ")}"`;

/** Of a list `a,b` the last item is completed. */
function bashScript(contexts: readonly Context[]): string {
  const options = contexts.flatMap((context) =>
    context.options.filter((one) => one.takesValue).map(({ name }) => name),
  );
  const valued = [...new Set(options)].join("|");
  const values = Object.entries(VALUES).map(([name, words]) => `    ${name}) ${suggest(words)} ;;`);
  const suggestions = contexts.flatMap((context) => [
    `      "${context.path} -") ${suggest(context.options.map(({ name }) => name))} ;;`,
    ...(context.commands.length === 0
      ? []
      : [`      "${context.path} 0") ${suggest(context.commands.map(({ name }) => name))} ;;`]),
    ...context.values.map(
      (words, i) => `      "${context.path} "${i === context.values.length - 1 ? "*" : i}) ${suggest(words)} ;;`,
    ),
  ]);
  const paths = contexts.slice(1).map(({ path }) => `"${path}"`);
  return `_tapehouse_words() {
  local IFS=$' \\n'
  COMPREPLY=($(compgen -P "$head" -W "$1" -- "$last"))
}
_tapehouse_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$current"))
}
_tapehouse() {
  local path= given=0 i word
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local last="\${current##*,}"
  local head="\${current%"$last"}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${path:+$path }$word" in
      ${paths.join("|")}) path="\${path:+$path }$word"; given=0 ;;
      *) case "\${COMP_WORDS[i-1]}" in ${valued}) ;; *) [[ "$word" == -* ]] || ((given += 1)) ;; esac ;;
    esac
  done
  [[ "$current" == -* ]] && given=-
  case "$previous" in
${values.join("\n")}
    ${valued}) ;;
    *) case "$path $given" in
${suggestions.join("\n")}
    esac ;;
  esac
}
complete -F _tapehouse tapehouse
`;
}

function fishScript(contexts: readonly Context[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = contexts.flatMap(({ path, commands, options, values }) => {
    const words = path === "" ? [] : path.split(" ");
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const names = commands.map(({ name }) => name).join(" ");
    const here = [...seen, ...(names === "" ? [] : [`not __fish_seen_subcommand_from ${names}`])].join("; and ");
    const when = here === "" ? "" : ` -n ${quoted(here)}`;
    return [
      ...commands.map(({ name, meaning }) => `complete -c tapehouse${when} -a ${name} -d ${quoted(meaning)}`),
      ...options.map(({ name, meaning, takesValue }) => {
        const suggested = fishValues(name);
        return `complete -c tapehouse${when} -l ${name.slice(2)} -d ${quoted(meaning)}${takesValue ? suggested : ""}`;
      }),
      ...values.map(
        (kind) => `complete -c tapehouse${when} ${kind === "files" ? "-F" : `-a ${quoted(kind.join(" "))}`}`,
      ),
    ];
  });
  return `complete -c tapehouse -f\n${lines.join("\n")}\n`;
}

function fishValues(option: string): string {
  const kind = VALUES[option];
  if (kind === "files") return " -r -F";
  if (kind === "folders") return " -x -a '(__fish_complete_directories)'";
  return kind === undefined ? " -x" : ` -x -a '${kind.join(" ")}'`;
}
