import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, usageError } from '../../base/errors.ts';
import { redactData } from '../../base/redact.ts';
import { maxTextLength, printableJson } from '../../base/sanitize.ts';
import { isDiskFull, storageError } from '../../base/storage-error.ts';
import { formatBytes, showInvisible } from '../../base/text.ts';
import { programVersion } from '../../base/version.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { readUserFile } from '../../cli/user-file.ts';
import { nearestWord, requireDuration, shortenInput } from '../../cli/values.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import type { DbSource } from '../source/index.ts';
import { type BaselineChange, decodeBaseline, findBaselineChanges, type PreflightBaseline } from './baseline.ts';
import { fixSections, isCommented, purposes, sourceLine } from './fix-script.ts';
import { renderJunit, renderSarif } from './formats/ci.ts';
import { renderHtml } from './formats/html.ts';
import { renderMarkdown } from './formats/markdown.ts';
import { isOnlyBlockedByPassword, type Model, modelOf } from './formats/model.ts';
import type { PreflightOptions } from './options.ts';
import { readFingerprints } from './postgresql/each-database.ts';
import { runPostgresqlPreflight } from './postgresql/run.ts';
import { createRedisEngine } from './redis/engine.ts';
import type { PreflightReport } from './report.ts';
import { type DeepProgress, runPreflight } from './run.ts';

/**
 * Reads a script of an earlier preflight of the same source; undefined if the file does not exist. Throws a CliError (exit 2)
 * for any other file, so that nothing that this program did not write is overwritten.
 * @param option the option that names the file
 */
export function readEarlierScript(
  file: string | undefined,
  option: 'fix-sql' | 'undo-sql',
  { source }: DbSource,
): string | undefined {
  const text = file === undefined ? undefined : readUserFile(file);
  if (file === undefined || text === undefined || text === '') return undefined;
  const [purpose = '', origin = ''] = text.split('\n', 2).map((line) => line.replace(/^(--|#) /, ''));
  const isOwn = purpose === purposes[option] && origin.startsWith(sourceLine(source));
  if (isOwn) return text;
  throw usageError(
    `cannot overwrite ${file}: it is not a script of an earlier preflight of ${source.host}:${source.port}`,
    `give the name of a new file with \`--${option}\``,
    'the file was not changed',
  );
}

/**
 * Puts the statements that undo the latest fixes before those of earlier ones, so that one run of the script restores the
 * first values. Returns the earlier script unchanged when it has these statements already.
 */
export function mergeUndo(earlier: string | undefined, latest: string): string {
  if (earlier === undefined) return latest;
  return earlier.includes(bodyOf(latest)) ? earlier : `${latest}\n${separator(latest)}\n${earlier}`;
}

/** The fix or undo script without its first lines, which contain the time of the preflight. */
function bodyOf(script: string): string {
  return script.slice(script.indexOf('\n\n'));
}

function separator(script: string): string {
  return `${script.startsWith('#') ? '#' : '--'} Below: the undo of the fixes of an earlier preflight. It runs after the statements above.`;
}

/**
 * The value of `--sarif-uri`: a relative reference (RFC 3986 §4.2), because code scanning looks for the file below the
 * root of the repository. Throws a CliError (exit 2) for any other value, and if no `--report` file is SARIF.
 */
export function readSarifUri(args: ParsedArgs): string | undefined {
  const uri = args.value('sarif-uri');
  if (uri === undefined) return undefined;
  if (!args.values('report').some((file) => file.toLowerCase().endsWith('.sarif')))
    throw usageError('--sarif-uri has no effect without a SARIF report', 'add `--report preflight.sarif`');
  if (!relativeReference.test(uri) || uri.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw usageError(
      `--sarif-uri is not a path relative to the root of the repository: ${shortenInput(uri)}`,
      'write it as in `--sarif-uri db/schema.sql`, with spaces as %20',
    );
  return uri;
}

/**
 * Segments of unreserved, percent-encoded and other allowed characters. A colon is not allowed, because it ends a
 * scheme.
 */
const relativeReference = /^(?:[\w.~!$&'()*+,;=@/-]|%[\dA-Fa-f]{2})+$/;

/** By file extension. */
const formats: Readonly<Record<string, (model: Model, version: string, sarifUri: string | undefined) => string>> = {
  '.json': ({ report }) => printableJson(report),
  '.md': renderMarkdown,
  '.html': renderHtml,
  '.xml': renderJunit,
  '.sarif': renderSarif,
};

export const reportExtensions: readonly string[] = Object.keys(formats);

const section = 'Report options';

/** The preflight options whose value is the path of an output file. */
export const reportOptionSpecs: readonly OptionSpec[] = [
  {
    section,
    name: 'report',
    valueName: 'FILE',
    multiple: 'repeat',
    description: `Write the report; the file name selects the format: ${reportExtensions.join(' ')}`,
    completion: 'file',
  },
  {
    section,
    name: 'sarif-uri',
    valueName: 'PATH',
    description: 'File of the repository that SARIF results refer to; code scanning requires it',
  },
  {
    section,
    name: 'fix-sql',
    valueName: 'FILE',
    description: 'Write one script with every fix that a script can make',
    completion: 'file',
  },
  {
    section,
    name: 'undo-sql',
    valueName: 'FILE',
    description:
      'Write a script that restores the settings as they were found; the statements of an existing script of this source are kept',
    completion: 'file',
  },
  {
    section,
    name: 'baseline',
    valueName: 'FILE',
    description: 'Write the report to FILE, or compare with it if FILE exists',
    completion: 'file',
  },
];

export interface ReportWithChanges {
  readonly report: PreflightReport;
  /** The changes since the baseline; undefined without `--baseline`. */
  readonly changes?: readonly BaselineChange[];
}

/**
 * Runs the preflight, shows its progress, and writes the files that the options name. File names are checked before the
 * source is queried. Throws a CliError (exit 2) for a file that cannot be written, and for a baseline of another source.
 */
export async function runWithFiles(
  io: CommandIo,
  args: ParsedArgs,
  source: DbSource,
  options: PreflightOptions,
): Promise<ReportWithChanges> {
  const files = args.values('report');
  const odd = files.find((file) => !reportExtensions.some((ending) => file.toLowerCase().endsWith(ending)));
  if (odd !== undefined)
    throw usageError(
      `the report format of ${odd} is unknown`,
      `use a file name that ends in one of ${reportExtensions.join(' ')}`,
    );
  const sarifUri = readSarifUri(args);
  const baselineFile = args.value('baseline');
  for (const file of [...files, args.value('fix-sql'), args.value('undo-sql'), baselineFile]) requireWritable(file);
  readEarlierScript(args.value('fix-sql'), 'fix-sql', source);
  const earlierUndo = readEarlierScript(args.value('undo-sql'), 'undo-sql', source);
  const baseline = baselineFile === undefined ? undefined : readBaseline(baselineFile);
  const report = await runWithProgress(io, args, source, options);
  if (
    baseline !== undefined &&
    (baseline.engine !== report.engine || baseline.source !== `${report.source.host}:${report.source.port}`)
  ) {
    throw usageError(`the baseline is of another source: ${baseline.source}`, 'give another file with `--baseline`');
  }
  const schemas =
    baselineFile === undefined ? undefined : await readFingerprints(io.host.clock, source, options, report);
  if (baselineFile !== undefined && baseline === undefined) {
    writeReport(baselineFile, printableJson({ ...report, schemas }));
  }
  const model = modelOf(report);
  for (const file of files) writeReport(file, renderReport(file, model, programVersion, sarifUri) ?? '');
  const { fixScript, undoScript: undo } = model;
  await writeScript(io, args.value('fix-sql'), fixScript, 'no finding has a fix that a script can make');
  await writeScript(
    io,
    args.value('undo-sql'),
    undo === undefined ? undefined : mergeUndo(earlierUndo, undo),
    earlierUndo === undefined
      ? 'no fix has a statement that can be undone'
      : 'the undo script keeps the undo of the earlier fixes, and no other fix has a statement that can be undone',
  );
  return {
    report,
    ...(baseline === undefined ? {} : { changes: findBaselineChanges(baseline, report, schemas) }),
  };
}

/**
 * The error of a preflight whose method is not possible; exit 3.
 * @param fixFile where the fix script was written
 * @param status the command that shows the migration whose objects block this one, in backquotes
 */
export function blockedError(
  report: PreflightReport,
  fixFile: string | undefined,
  status = '`cloudctl db status CLUSTER_UUID`',
): CliError {
  const blockers = [
    ...new Set(
      report.findings
        .filter(({ blocks, accepted }) => blocks.includes(report.method) && accepted !== true)
        .map(({ id }) => id),
    ),
  ];
  const sections = fixSections(report).filter(({ isOptional }) => !isOptional);
  const hint = isOnlyBlockedByPassword(report)
    ? 'provide the correct password, and run the preflight again'
    : blockers.length === 1 && blockers[0] === 'leftovers'
      ? `see whether the migration of these objects has ended: ${status}`
      : sections.length === 0
        ? 'apply the fixes in the report, and run the preflight again'
        : fixFile === undefined
          ? 'write the fixes into one script: run the same command with `--fix-sql fix.sql --undo-sql undo.sql`'
          : sections.every(isCommented)
            ? `do the steps in ${fixFile} by hand on the server, and run the preflight again`
            : `review ${fixFile}, run it section by section, and run the preflight again`;
  return new CliError('preflight_blocked', `the ${report.method} migration is not possible; nothing was sent`, {
    detail: blockers.length === 0 ? strictDetail(report) : `blocked by ${blockers.join(', ')}`,
    hint,
  });
}

/** The error detail for `--strict`: the ids of the warnings and of the unproven conditions that block the migration. */
function strictDetail({ findings, premises }: PreflightReport): string {
  const warnings = findings.filter(({ status, accepted }) => status === 'warn' && accepted !== true);
  const ids = [...warnings, ...premises.filter(({ accepted }) => accepted !== true)].map(({ id }) => id);
  return `--strict treats warnings and unproven premises as blockers: ${[...new Set(ids)].join(', ')}`;
}

async function runWithProgress(
  io: CommandIo,
  args: ParsedArgs,
  source: DbSource,
  options: PreflightOptions,
): Promise<PreflightReport> {
  const { host, progress, output } = io;
  const common = {
    options,
    deadline: requireDuration(args.value('deadline') ?? '60s', '--deadline', 1000),
    clock: host.clock,
    nearest: nearestWord,
    onProgress: (done: number, total: number) =>
      void progress.show(`${done} of ${total} ${source.engine === 'redis' ? 'steps done' : 'databases checked'}`),
    onRead: (read: DeepProgress) => void progress.show(formatDeepProgress(read)),
    onQuery: (where: string, text: string) => {
      if (args.has('show-queries')) void output.show(`query sent to ${where}: ${text}`, maxTextLength);
    },
  };
  try {
    await progress.show('querying the source');
    return await runUntilSignal(
      host.signals,
      'the preflight was cancelled',
      (signal): Promise<PreflightReport> =>
        source.engine === 'redis'
          ? runPreflight(createRedisEngine(), { ...common, signal, source: source.source })
          : runPostgresqlPreflight({ ...common, signal, source: source.source }),
    );
  } finally {
    await progress.stop();
  }
}

async function writeScript(
  io: CommandIo,
  file: string | undefined,
  text: string | undefined,
  reason: string,
): Promise<void> {
  if (file === undefined) return;
  if (text === undefined) await io.output.note(`${file} was not written: ${reason}.`);
  else writeReport(file, text);
}

/** Returns the progress line for a terminal: how many bytes were read, and which table is being read. */
function formatDeepProgress({ bytes, database, table, position, tables }: DeepProgress): string {
  return `${formatBytes(bytes)} read; ${database}: table ${position} of ${tables}, ${table}`;
}

/**
 * Renders the report in the format that the file extension selects; undefined if there is no such format.
 * @param version of this program
 * @param sarifUri the file that results of SARIF refer to, relative to the root of its repository
 */
export function renderReport(file: string, model: Model, version: string, sarifUri?: string): string | undefined {
  const extension = reportExtensions.find((known) => file.toLowerCase().endsWith(known));
  return extension === undefined ? undefined : formats[extension]?.(model, version, sarifUri);
}

export function writeReport(file: string, text: string): void {
  try {
    writeFileSync(file, redactData(text));
  } catch (error) {
    throw writeError(file, error);
  }
}

/** Checks that the output files can be written before the preflight starts, because a preflight can take a minute. */
export function requireWritable(file: string | undefined): void {
  if (file === undefined) return;
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) accessSync(dirname(file), constants.W_OK);
    else accessSync(file, constants.W_OK);
  } catch (error) {
    throw writeError(file, error);
  }
}

export function writeError(file: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  const elsewhere = 'give a file in a folder where you have write permission';
  return isDiskFull(error)
    ? storageError(`could not write ${showInvisible(file)}: ${showInvisible(reason)}`, error, { elsewhere })
    : usageError(`could not write ${showInvisible(file)}: ${showInvisible(reason)}`, elsewhere);
}

export function readBaseline(file: string): PreflightBaseline | undefined {
  const text = readUserFile(file);
  if (text === undefined) return undefined;
  const baseline = decodeBaseline(text);
  if (baseline === undefined)
    throw usageError(
      `the baseline ${file} is not a preflight report`,
      'give another file with `--baseline`',
      'the baseline file was not changed',
    );
  return baseline;
}
