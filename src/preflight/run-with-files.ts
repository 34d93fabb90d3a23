import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { maxTextLength } from '../cli/command-io.ts';
import { requireDuration } from '../cli/duration.ts';
import { readInputFile } from '../cli/input-file.ts';
import { nearestWord } from '../cli/suggest.ts';
import type { DbSource } from '../db-source/read-source.ts';
import { CliError, usageError } from '../errors.ts';
import { untilSignal } from '../platform/until-signal.ts';
import { version } from '../version.ts';
import {
  type Baseline,
  type BaselineChange,
  changesSince,
  decodeBaseline,
  type SchemaFingerprints,
} from './baseline.ts';
import { renderReport, reportFileExtensions } from './formats/render-report.ts';
import { schemaFingerprintsQuery } from './postgresql/queries/schema-fingerprints.ts';
import { queryEachDatabase } from './postgresql/query-each-database.ts';
import { runPostgresqlPreflight } from './postgresql/run.ts';
import type { PreflightOptions } from './preflight-options.ts';
import { runRedisPreflight } from './redis/run.ts';
import { renderFixScript, renderUndoScript } from './render-fix-script.ts';
import type { PreflightReport } from './report.ts';

/** The options that say where the report goes (contract.md §6). */
export const reportOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'report',
    valueName: 'FILE',
    multiple: 'repeat',
    description: `write the report, by its ending: ${reportFileExtensions.join(' ')}`,
    completion: 'file',
  },
  {
    name: 'fix-sql',
    valueName: 'FILE',
    description: 'write one script that cures what can be cured',
    completion: 'file',
  },
  {
    name: 'undo-sql',
    valueName: 'FILE',
    description: 'write the script that restores what was observed',
    completion: 'file',
  },
  {
    name: 'baseline',
    valueName: 'FILE',
    description: 'save the report there, or compare with the one that is there',
    completion: 'file',
  },
];

export interface PreflightOutcome {
  readonly report: PreflightReport;
  /** What changed since the baseline; undefined when there was none to compare with. */
  readonly changes?: readonly BaselineChange[];
}

/** Runs the preflight, shows how far it is, and writes every file that was asked for. File names are checked before the source is touched. */
export async function runPreflightWithFiles(
  context: CommandIo,
  words: ParsedArgs,
  source: DbSource,
  wish: PreflightOptions,
): Promise<PreflightOutcome> {
  const files = words.values('report');
  const odd = files.find((file) => !reportFileExtensions.some((ending) => file.toLowerCase().endsWith(ending)));
  if (odd !== undefined)
    throw usageError(
      `--report ${odd} has an ending that is no format`,
      `end it with one of ${reportFileExtensions.join(' ')}`,
    );
  const baselineFile = words.value('baseline');
  for (const file of [...files, words.value('fix-sql'), words.value('undo-sql'), baselineFile]) requireWritable(file);
  const baseline = baselineFile === undefined ? undefined : readBaseline(baselineFile);
  const report = await runWithProgress(context, words, source, wish);
  if (
    baseline !== undefined &&
    (baseline.engine !== report.engine || baseline.source !== `${report.source.host}:${report.source.port}`)
  ) {
    throw usageError(`the baseline is of ${baseline.source}`, 'name another file with --baseline');
  }
  const schemas = baselineFile === undefined ? undefined : await readSchemaShapes(context, source, wish, report);
  if (baselineFile !== undefined && baseline === undefined) {
    write(baselineFile, `${JSON.stringify({ ...report, schemas }, null, 2)}\n`);
  }
  for (const file of files) write(file, renderReport(file, report, version) ?? '');
  await writeScript(context, words.value('fix-sql'), renderFixScript(report), 'nothing can be cured by a script');
  await writeScript(context, words.value('undo-sql'), renderUndoScript(report), 'there is nothing to restore');
  return { report, ...(baseline === undefined ? {} : { changes: changesSince(baseline, report, schemas) }) };
}

/** Exit 3 and what to do, when the method asked for is not possible. */
export function methodNotPossibleError(report: PreflightReport, fixFile: string | undefined): CliError {
  const reasons = [
    ...new Set(
      report.findings
        .filter(({ blocks, accepted }) => blocks.includes(report.method) && accepted !== true)
        .map(({ id }) => id),
    ),
  ];
  const hint =
    renderFixScript(report) === undefined
      ? 'do what the cures say, and run the preflight again'
      : fixFile === undefined
        ? 'cures in one script: the same command with `--fix-sql fix.sql`'
        : `read ${fixFile}, run it section by section, and run the preflight again`;
  return new CliError('preflight_blocked', `the ${report.method} migration is not possible; nothing was sent`, {
    detail:
      reasons.length === 0
        ? 'warnings block with --strict, or something could not be asked'
        : `because of ${reasons.join(', ')}`,
    hint,
  });
}

async function runWithProgress(
  context: CommandIo,
  words: ParsedArgs,
  source: DbSource,
  wish: PreflightOptions,
): Promise<PreflightReport> {
  const { host, progress, output } = context;
  const common = {
    wish,
    options: wish,
    deadline: requireDuration(words.value('deadline') ?? '60s', '--deadline', 1000),
    clock: host.clock,
    nearest: nearestWord,
    onProgress: (done: number, total: number) =>
      void progress.show(`${done} of ${total} ${source.engine === 'redis' ? 'steps' : 'databases judged'}`),
    onQuery: (where: string, text: string) => {
      if (words.has('show-queries')) void output.show(`sent to ${where}: ${text}`, maxTextLength);
    },
  };
  try {
    await progress.show('asking the source');
    return await untilSignal(
      host.signals,
      'the preflight was cancelled',
      (signal): Promise<PreflightReport> =>
        source.engine === 'redis'
          ? runRedisPreflight({ ...common, signal, source: source.source })
          : runPostgresqlPreflight({ ...common, signal, source: source.source }),
    );
  } finally {
    await progress.stop();
  }
}

/** The shape of every schema, for the baseline alone: it reads every attribute. A source that was not entered has none. */
async function readSchemaShapes(
  context: CommandIo,
  source: DbSource,
  wish: PreflightOptions,
  report: PreflightReport,
): Promise<SchemaFingerprints | undefined> {
  if (source.engine === 'redis' || report.source.server_version === undefined) return undefined;
  const options = { source: source.source, ignoreDbs: wish.ignoreDbs, clock: context.host.clock, nearest: nearestWord };
  const told = await queryEachDatabase({ ...options, signal: AbortSignal.timeout(60_000) }, schemaFingerprintsQuery);
  const entries = told.flatMap((each) => {
    if ('failure' in each) return [];
    return each.value.map(({ schema, tables, columns, hash }) => [
      `${each.database}.${schema}`,
      `${tables} tables, ${columns} columns, hash ${hash}`,
    ]);
  });
  return Object.fromEntries(entries);
}

function readBaseline(file: string): Baseline | undefined {
  const text = readInputFile(file);
  if (text === undefined) return undefined;
  const baseline = decodeBaseline(text);
  if (baseline === undefined)
    throw usageError(
      `the baseline ${file} is no report of a preflight`,
      'name another file with --baseline; it was left as it is',
    );
  return baseline;
}

async function writeScript(
  context: CommandIo,
  file: string | undefined,
  text: string | undefined,
  without: string,
): Promise<void> {
  if (file === undefined) return;
  if (text === undefined) await context.output.note(`${file} was not written: ${without}.`);
  else write(file, text);
}

/** Known before the source is asked: a verdict of a minute is lost when its file cannot be written in the end. */
function requireWritable(file: string | undefined): void {
  if (file === undefined) return;
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) accessSync(dirname(file), constants.W_OK);
    else accessSync(file, constants.W_OK);
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function cannotWrite(file: string, error: unknown): CliError {
  const reason = error instanceof Error ? error.message : String(error);
  return usageError(`could not write ${file}: ${reason}`, 'name a file in a folder that you may write to');
}
