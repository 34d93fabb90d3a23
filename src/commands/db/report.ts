import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { OptionSpec, Words } from '../../cli/command.ts';
import { duration } from '../../cli/duration.ts';
import { nearest } from '../../cli/suggest.ts';
import type { Context } from '../../context.ts';
import { CliError, usage } from '../../errors.ts';
import { type Baseline, type Change, changesSince, decodeBaseline, type Shapes } from '../../preflight/baseline.ts';
import { fixScript, undoScript } from '../../preflight/fix-text.ts';
import { renderReport, reportEndings } from '../../preflight/formats/write.ts';
import { schemaShapes } from '../../preflight/postgresql/asks/schema.ts';
import { askEachDatabase } from '../../preflight/postgresql/each-database.ts';
import { preflightPostgresql } from '../../preflight/postgresql/run.ts';
import { preflightRedis } from '../../preflight/redis/run.ts';
import type { Report } from '../../preflight/report.ts';
import type { Wish } from '../../preflight/wish.ts';
import { version } from '../../version.ts';
import { readInput } from '../input-file.ts';
import type { Source } from './source.ts';
import { untilSignal } from './until-signal.ts';

/** The options that say where the report goes (contract.md §6). */
export const reportOptions: readonly OptionSpec[] = [
  {
    name: 'report',
    value: 'FILE',
    many: 'repeat',
    description: `write the report, by its ending: ${reportEndings.join(' ')}`,
    completes: 'file',
  },
  { name: 'fix-sql', value: 'FILE', description: 'write one script that cures what can be cured', completes: 'file' },
  {
    name: 'undo-sql',
    value: 'FILE',
    description: 'write the script that restores what was observed',
    completes: 'file',
  },
  {
    name: 'baseline',
    value: 'FILE',
    description: 'save the report there, or compare with the one that is there',
    completes: 'file',
  },
];

export interface Judged {
  readonly report: Report;
  /** What changed since the baseline; undefined when there was none to compare with. */
  readonly changes?: readonly Change[];
}

/** Runs the preflight, shows how far it is, and writes every file that was asked for. File names are checked before the source is touched. */
export async function judge(context: Context, words: Words, source: Source, wish: Wish): Promise<Judged> {
  const files = words.list('report');
  const odd = files.find((file) => !reportEndings.some((ending) => file.toLowerCase().endsWith(ending)));
  if (odd !== undefined)
    throw usage(`--report ${odd} has an ending that is no format`, `end it with one of ${reportEndings.join(' ')}`);
  const baselineFile = words.text('baseline');
  for (const file of [...files, words.text('fix-sql'), words.text('undo-sql'), baselineFile]) requireWritable(file);
  const baseline = baselineFile === undefined ? undefined : readBaseline(baselineFile);
  const report = await run(context, words, source, wish);
  if (
    baseline !== undefined &&
    (baseline.engine !== report.engine || baseline.source !== `${report.source.host}:${report.source.port}`)
  ) {
    throw usage(`the baseline is of ${baseline.source}`, 'name another file with --baseline');
  }
  const schemas = baselineFile === undefined ? undefined : await shapesOf(context, source, wish, report);
  if (baselineFile !== undefined && baseline === undefined) {
    write(baselineFile, `${JSON.stringify({ ...report, schemas }, null, 2)}\n`);
  }
  for (const file of files) write(file, renderReport(file, report, version) ?? '');
  await writeScript(context, words.text('fix-sql'), fixScript(report), 'nothing can be cured by a script');
  await writeScript(context, words.text('undo-sql'), undoScript(report), 'there is nothing to restore');
  return { report, ...(baseline === undefined ? {} : { changes: changesSince(baseline, report, schemas) }) };
}

/** Exit 3 and what to do, when the method asked for is not possible. */
export function notPossible(report: Report, fixFile: string | undefined): CliError {
  const reasons = [
    ...new Set(
      report.findings
        .filter(({ blocks, accepted }) => blocks.includes(report.method) && accepted !== true)
        .map(({ id }) => id),
    ),
  ];
  const hint =
    fixScript(report) === undefined
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

async function run(context: Context, words: Words, source: Source, wish: Wish): Promise<Report> {
  const { host, progress, output } = context;
  const common = {
    wish,
    deadline: duration(words.text('deadline') ?? '60s', '--deadline', 1000),
    clock: host.clock,
    nearest,
    onProgress: (done: number, total: number) =>
      void progress.show(`${done} of ${total} ${source.engine === 'redis' ? 'steps' : 'databases judged'}`),
    onQuery: (where: string, text: string) => {
      if (words.flag('show-queries')) void output.show(`sent to ${where}: ${text}`, wholeText);
    },
  };
  try {
    await progress.show('asking the source');
    return await untilSignal(
      host.signals,
      'the preflight was cancelled',
      (signal): Promise<Report> =>
        source.engine === 'redis'
          ? preflightRedis({ ...common, signal, source: source.source })
          : preflightPostgresql({ ...common, signal, source: source.source }),
    );
  } finally {
    await progress.stop();
  }
}

/** Characters of what must not be cut: no message and no report comes near. */
export const wholeText = 10_000_000;

/** The shape of every schema, for the baseline alone: it reads every attribute. A source that was not entered has none. */
async function shapesOf(context: Context, source: Source, wish: Wish, report: Report): Promise<Shapes | undefined> {
  if (source.engine === 'redis' || report.source.server_version === undefined) return undefined;
  const options = { source: source.source, ignoreDbs: wish.ignoreDbs, clock: context.host.clock, nearest };
  const told = await askEachDatabase({ ...options, signal: AbortSignal.timeout(60_000) }, schemaShapes);
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
  const text = readInput(file);
  if (text === undefined) return undefined;
  const baseline = decodeBaseline(text);
  if (baseline === undefined)
    throw usage(
      `the baseline ${file} is no report of a preflight`,
      'name another file with --baseline; it was left as it is',
    );
  return baseline;
}

async function writeScript(
  context: Context,
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
  return usage(`could not write ${file}: ${reason}`, 'name a file in a folder that you may write to');
}
