// tapehouse completion: scripts by which shells complete commands, options and names of entities.
import { Argument, Command } from "commander";
import { ENTITY_NAMES } from "../catalog/index.js";
import { OFFERED } from "../settings.js";
import { say } from "./out.js";

const SHELLS = ["bash", "zsh", "fish"] as const;

const INSTALL = `
Examples:
  $ tapehouse completion bash >> ~/.bashrc
  $ tapehouse completion zsh >> ~/.zshrc
  $ tapehouse completion fish > ~/.config/fish/completions/tapehouse.fish

Each is for one shell, from its next terminal on.`;

/** `program` makes the commands that are completed. */
export function completionCommand(program: () => Command): Command {
  return new Command("completion")
    .description("Print a script by which a shell completes commands, options and names of entities.")
    .addArgument(new Argument("<shell>", "the shell that reads it").choices(SHELLS))
    .addHelpText("after", INSTALL)
    .action((shell: (typeof SHELLS)[number]) => {
      say(SCRIPTS[shell](placesOf(program())).trimEnd().split("\n"));
    });
}

/** Where the cursor may be: behind the words of a command. */
interface Place {
  /** E.g. `token create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly takesValue: boolean })[];
  /** What the arguments are, in order; the last one may be repeated. */
  readonly takes: readonly (readonly string[] | "files")[];
}

interface Word {
  readonly name: string;
  readonly meaning: string;
}

function placesOf(command: Command, path: readonly string[] = []): readonly Place[] {
  const options = command.options.map(({ long, description, required }) => {
    return { name: long!, meaning: description, takesValue: required };
  });
  const place: Place = {
    path: path.join(" "),
    commands: command.commands.map((sub) => ({ name: sub.name(), meaning: sub.description() })),
    options: [...options, { name: "--help", meaning: "display help for command", takesValue: false }],
    takes: command.registeredArguments.map((argument) => ARGUMENTS[argument.name()] ?? argument.argChoices ?? []),
  };
  return [place, ...command.commands.flatMap((sub) => placesOf(sub, [...path, sub.name()]))];
}

const ARGUMENTS: Readonly<Record<string, Place["takes"][number]>> = { entity: ENTITY_NAMES, file: "files" };

/** What the values of options are; nothing is offered for others. */
const VALUES: Readonly<Record<string, readonly string[] | "files" | "folders">> = {
  ...OFFERED,
  "--entities": [...ENTITY_NAMES, "metrics"],
};

const SCRIPTS: Record<(typeof SHELLS)[number], (places: readonly Place[]) => string> = {
  bash: bashScript,
  zsh: (places) =>
    `autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n${bashScript(places)}`,
  fish: fishScript,
};

/** Of `compgen` in bash, which zsh has too. */
const KINDS = { files: "-f", folders: "-d" };

const offer = (words: readonly string[] | keyof typeof KINDS): string =>
  typeof words === "string" ? `_tapehouse_files ${KINDS[words]}` : `_tapehouse_words "${words.join(" ")}"`;

/** Of a list `a,b` the last item is completed. */
function bashScript(places: readonly Place[]): string {
  const options = places.flatMap((place) => place.options.filter((one) => one.takesValue).map(({ name }) => name));
  const valued = [...new Set(options)].join("|");
  const values = Object.entries(VALUES).map(([name, words]) => `    ${name}) ${offer(words)} ;;`);
  const offers = places.flatMap((place) => [
    `      "${place.path} -") ${offer(place.options.map(({ name }) => name))} ;;`,
    ...(place.commands.length === 0
      ? []
      : [`      "${place.path} 0") ${offer(place.commands.map(({ name }) => name))} ;;`]),
    ...place.takes.map(
      (words, i) => `      "${place.path} "${i === place.takes.length - 1 ? "*" : i}) ${offer(words)} ;;`,
    ),
  ]);
  const paths = places.slice(1).map(({ path }) => `"${path}"`);
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
${offers.join("\n")}
    esac ;;
  esac
}
complete -F _tapehouse tapehouse
`;
}

function fishScript(places: readonly Place[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, commands, options, takes }) => {
    const words = path === "" ? [] : path.split(" ");
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    const names = commands.map(({ name }) => name).join(" ");
    const here = [...seen, ...(names === "" ? [] : [`not __fish_seen_subcommand_from ${names}`])].join("; and ");
    const when = here === "" ? "" : ` -n ${quoted(here)}`;
    return [
      ...commands.map(({ name, meaning }) => `complete -c tapehouse${when} -a ${name} -d ${quoted(meaning)}`),
      ...options.map(({ name, meaning, takesValue }) => {
        const offered = fishValues(name);
        return `complete -c tapehouse${when} -l ${name.slice(2)} -d ${quoted(meaning)}${takesValue ? offered : ""}`;
      }),
      ...takes.map(
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
