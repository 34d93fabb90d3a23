import type { OptionSpec, ParsedArgs } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { type DbSource, sourceOptionSpecs } from '../db-source/read-source.ts';
import { CliError } from '../errors.ts';
import { textReport } from '../preflight/formats/text-report.ts';
import { preflightOptionSpecs, readPreflightOptions } from '../preflight/option-specs.ts';
import type { PreflightOptions } from '../preflight/preflight-options.ts';
import type { PreflightReport } from '../preflight/report.ts';
import {
  maxTextLength,
  methodNotPossibleError,
  reportOptionSpecs,
  runPreflightWithFiles,
} from '../preflight/run-with-files.ts';
import type { RehearsalTarget } from './rehearsal-target.ts';

/** What the target answers by itself is not asked of the person. */
const targetDerivedOptions = [
  'target-version',
  'target-extensions',
  'target-memory',
  'allow-private',
  'judge-as-public',
];

export const rehearseOptionSpecs: readonly OptionSpec[] = [
  ...sourceOptionSpecs,
  {
    name: 'into',
    valueName: 'URL',
    description: 'the server that is filled: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
  },
  ...preflightOptionSpecs.filter(({ name }) => !targetDerivedOptions.includes(name)),
  { name: 'keep', description: 'leave the copies on the target' },
  {
    name: 'patience',
    valueName: 'DURATION',
    description: 'without any progress for so long it counts as failed (60s)',
  },
  { name: 'interval', valueName: 'DURATION', description: 'between two looks of the watch (1s)' },
  { name: 'report', valueName: 'FILE', description: 'write the report there as JSON', completion: 'file' },
  ...reportOptionSpecs.filter(({ name }) => name === 'fix-sql' || name === 'undo-sql'),
];

/** What the survey of the target told. */
export interface TargetFacts {
  /** As `--target-version` has it. */
  readonly version: string;
  /** undefined: of Redis, modules are not asked. */
  readonly extensions: readonly string[] | undefined;
}

/** The wish of `db preflight`, with the target as it is, judged for the way from here. */
export function rehearsalPreflightOptions(
  context: Context,
  words: ParsedArgs,
  { engine }: DbSource,
  { source: { host, port } }: RehearsalTarget,
  { version, extensions }: TargetFacts,
): PreflightOptions {
  const wish = readPreflightOptions(
    withoutOptions(words, targetDerivedOptions),
    engine,
    context.settings(),
    context.host.clock.now(),
  );
  return {
    ...wish,
    asPublic: false,
    targetVersion: version,
    targetExtensions: extensions?.map((name) => name.toLowerCase()),
    target: { host, port },
  };
}

/** Shows the verdict on stderr; standard output is for the rehearsal. Throws when nothing can be rehearsed. */
export async function runRehearsalPreflight(
  context: Context,
  words: ParsedArgs,
  source: DbSource,
  wish: PreflightOptions,
): Promise<{ readonly report: PreflightReport; readonly method: 'continuous' | 'dump' }> {
  const { report } = await runPreflightWithFiles(context, withoutOptions(words, ['report', 'baseline']), source, wish);
  const plain = (text: string): string => text;
  const ink = { bold: plain, dim: plain, red: plain, yellow: plain };
  await context.output.note(textReport(report, ink, undefined), maxTextLength);
  if (report.ok && report.method !== 'scan') return { report, method: report.method };
  if (report.ok || (report.verdict === 'scan' && words.value('method') === 'scan')) throw scanNotSupportedError();
  if (report.verdict === 'dump' && words.value('method') === undefined && !wish.strict) {
    await context.output.note('The dump is rehearsed: nothing should be written to the source meanwhile.');
    return { report, method: 'dump' };
  }
  throw methodNotPossibleError(report, words.value('fix-sql'));
}

function scanNotSupportedError(): CliError {
  return new CliError('preflight_blocked', 'a scan cannot be rehearsed: a rehearsal is a replication', {
    hint: 'leave --method out; nothing was touched',
  });
}

/** The same words without these options, which are not this command's. */
function withoutOptions(words: ParsedArgs, hidden: readonly string[]): ParsedArgs {
  return {
    positionals: words.positionals,
    value: (name) => (hidden.includes(name) ? undefined : words.value(name)),
    values: (name) => (hidden.includes(name) ? [] : words.values(name)),
    has: (name) => !hidden.includes(name) && words.has(name),
  };
}
