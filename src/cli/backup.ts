// tapehouse backup | restore
import { Command } from "commander";
import { backup, isArchive, STDOUT, type BackupReport } from "../backup/backup.js";
import { restore, type RestoreReport } from "../backup/restore.js";
import { OperatorError } from "../errors.js";
import { layoutOf } from "../lake/layout.js";
import { placeOf } from "../lake/mirror/binding.js";
import { isBucketAddress } from "../objects/address.js";
import { isUrl } from "../setting-values.js";
import { plural, size } from "../words.js";
import { shell } from "./doctor/finding.js";
import { dataOption, jsonOption, requireLake } from "./options.js";
import { note, printJson, say } from "./out.js";
import { createProgress } from "./progress.js";

interface Options {
  readonly data: string;
  readonly verify?: boolean;
  readonly json?: boolean;
}

const BACKUP_DETAILS = `
The lake may be read and written while it is copied. A backup in a folder copies only the files that are new since the
last one there, and then removes those that no version needs any more. It holds all kept versions with their data files,
the tokens, the recorded gaps and the ledger of drops; not the inbox, caches or unfinished work.

Examples:
  $ tapehouse backup /mnt/backup/tapehouse
  $ tapehouse backup tapehouse.tar
  $ tapehouse backup s3://backups/tapehouse
  $ tapehouse backup - | ssh other 'cat > tapehouse.tar'`;

export function backupCommand(): Command {
  return new Command("backup")
    .description(
      "Copy the lake into a folder, a bucket, a file that ends in .tar, or, with -, as a tar archive to standard output.",
    )
    .argument("<backup>", "a folder, a bucket such as s3://bucket/prefix, a file that ends in .tar, or -")
    .option("--verify", "check the files that are already in the folder, and copy those again that are damaged")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", BACKUP_DETAILS)
    .action(async (place: string, options: Options) => {
      requirePlace(place, options);
      await requireLake(options.data);
      const progress = createProgress(process.stderr);
      try {
        const report = await backup(
          options.data,
          place,
          { verify: options.verify === true, now: new Date() },
          process.stdout,
          (what, done, total) => progress.show({ what, done, total, unit: "bytes" }),
        );
        progress.done();
        if (options.json) printJson(report);
        else (place === STDOUT ? note : say)(describeBackup(report));
      } finally {
        progress.done();
      }
    });
}

/** Endings of archives that only other programs write. */
const OTHER_ARCHIVES = /\.(tgz|tar\.\w+|zip|7z|rar)$/i;

function requirePlace(place: string, { verify, json }: Options): void {
  const refuse = (problem: string): never => {
    throw new OperatorError(problem, 2);
  };
  if (place === "") refuse("the name of the backup is empty: name a folder, or a file that ends in .tar");
  if (isUrl(place) && !isBucketAddress(place))
    refuse(`${place} is a URL: name a folder, a bucket such as s3://bucket/prefix, a file that ends in .tar, or -`);
  if (OTHER_ARCHIVES.test(place))
    refuse(`${place} is no name for a backup: use a name that ends in .tar, or pipe the output of tapehouse backup -`);
  if (place === STDOUT && process.stdout.isTTY) refuse("the archive is not for a terminal: redirect standard output");
  if (place === STDOUT && json) refuse("--json and - both use standard output: name a file that ends in .tar");
  if (verify && (place === STDOUT || isArchive(place)))
    refuse("--verify checks an earlier backup in a folder; an archive is always written and checked as a whole");
}

function describeBackup({ data_version, versions, files, bytes, copied, removed }: BackupReport): readonly string[] {
  const whole = `${plural(versions, "version")}, ${plural(files, "data file")}, ${size(bytes)}`;
  const news = `copied ${plural(copied.files, "data file")}, ${size(copied.bytes)}`;
  return [
    `backed up data_version ${data_version}: ${whole}`,
    removed === 0 ? news : `${news}; removed ${plural(removed, "file")} that no version needs`,
  ];
}

const RESTORE_DETAILS = `
Each file is checked as it is copied. If the command is interrupted, run it again to finish; until then, the data
directory cannot be opened.

Examples:
  $ tapehouse restore /mnt/backup/tapehouse --data ./parquet
  $ tapehouse restore tapehouse.tar --data ./parquet
  $ tapehouse backup - --data ./parquet | tapehouse restore - --data s3://market/lake`;

export function restoreCommand(): Command {
  return new Command("restore")
    .description("Restore a backup into a data directory or a bucket that is missing or empty.")
    .argument("<backup>", "a folder, bucket or tar archive that tapehouse backup made, or - for standard input")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText("after", RESTORE_DETAILS)
    .action(async (source: string, options: { readonly data: string; readonly json?: boolean }) => {
      if (source === "") throw new OperatorError("the name of the backup is empty: name a folder or a tar archive", 2);
      if (source === "-" && process.stdin.isTTY)
        throw new OperatorError("there is no archive on a terminal: redirect standard input", 2);
      const progress = createProgress(process.stderr);
      try {
        const report = await restore(source, options.data, process.stdin, (what, done, total) =>
          progress.show({ what, done, total, unit: "bytes" }),
        );
        progress.done();
        if (options.json) printJson(report);
        else say(describeRestore(report, await placeOf(layoutOf(options.data))));
      } finally {
        progress.done();
      }
    });
}

function describeRestore({ data_version, versions, files, bytes, created }: RestoreReport, place: string): string[] {
  return [
    `restored data_version ${data_version} into ${place}, from the backup of ${created}`,
    `${plural(versions, "version")}, ${plural(files, "data file")}, ${size(bytes)}; the inbox is no part of a backup`,
    `serve it with: ${shell("tapehouse", "serve", "--data", place)}`,
  ];
}
