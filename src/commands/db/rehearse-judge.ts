import type { OptionSpec, Words } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { textReport } from '../../preflight/formats/text.ts';
import type { Report } from '../../preflight/report.ts';
import type { Wish } from '../../preflight/wish.ts';
import type { Into } from './rehearse-into.ts';
import { judge, notPossible, reportOptions, wholeText } from './report.ts';
import { type Source, sourceOptions } from './source.ts';
import { wishOf, wishOptions } from './wish.ts';

/** What the target answers by itself is not asked of the person. */
const told = ['target-version', 'target-extensions', 'target-memory', 'allow-private', 'judge-as-public'];

export const rehearseOptions: readonly OptionSpec[] = [
  ...sourceOptions,
  {
    name: 'into',
    value: 'URL',
    description: 'the server that is filled: postgres://USER@HOST:PORT/DBNAME or redis://HOST:PORT',
  },
  ...wishOptions.filter(({ name }) => !told.includes(name)),
  { name: 'keep', description: 'leave the copies on the target' },
  { name: 'patience', value: 'DURATION', description: 'without any progress for so long it counts as failed (60s)' },
  { name: 'interval', value: 'DURATION', description: 'between two looks of the watch (1s)' },
  { name: 'report', value: 'FILE', description: 'write the report there as JSON', completes: 'file' },
  ...reportOptions.filter(({ name }) => name === 'fix-sql' || name === 'undo-sql'),
];

/** What the survey of the target told. */
export interface Surveyed {
  /** As `--target-version` has it. */
  readonly version: string;
  /** undefined: of Redis, modules are not asked. */
  readonly extensions: readonly string[] | undefined;
}

/** The wish of `db preflight`, with the target as it is, judged for the way from here. */
export function rehearsalWish(
  context: Context,
  words: Words,
  { engine }: Source,
  { source: { host, port } }: Into,
  { version, extensions }: Surveyed,
): Wish {
  const wish = wishOf(without(words, told), engine, context.settings(), context.host.clock.now());
  return {
    ...wish,
    asPublic: false,
    targetVersion: version,
    targetExtensions: extensions?.map((name) => name.toLowerCase()),
    target: { host, port },
  };
}

/** Shows the verdict on stderr; standard output is for the rehearsal. Throws when nothing can be rehearsed. */
export async function judgeFirst(
  context: Context,
  words: Words,
  source: Source,
  wish: Wish,
): Promise<{ readonly report: Report; readonly method: 'continuous' | 'dump' }> {
  const { report } = await judge(context, without(words, ['report', 'baseline']), source, wish);
  const plain = (text: string): string => text;
  const ink = { bold: plain, dim: plain, red: plain, yellow: plain };
  await context.output.note(textReport(report, ink, undefined), wholeText);
  if (report.ok && report.method !== 'scan') return { report, method: report.method };
  if (report.ok || (report.verdict === 'scan' && words.text('method') === 'scan')) throw onlyScan();
  if (report.verdict === 'dump' && words.text('method') === undefined && !wish.strict) {
    await context.output.note('The dump is rehearsed: nothing should be written to the source meanwhile.');
    return { report, method: 'dump' };
  }
  throw notPossible(report, words.text('fix-sql'));
}

function onlyScan(): CliError {
  return new CliError('preflight_blocked', 'a scan cannot be rehearsed: a rehearsal is a replication', {
    hint: 'leave --method out; nothing was touched',
  });
}

/** The same words without these options, which are not this command's. */
function without(words: Words, hidden: readonly string[]): Words {
  return {
    args: words.args,
    text: (name) => (hidden.includes(name) ? undefined : words.text(name)),
    list: (name) => (hidden.includes(name) ? [] : words.list(name)),
    flag: (name) => !hidden.includes(name) && words.flag(name),
  };
}
