import { CliError } from '../../base/errors.ts';
import { maxSanitizedTextLength } from '../../base/sanitize.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import { renderTextPreflightReport } from '../../preflight/formats/text-report.ts';
import { readPreflightOptions } from '../../preflight/option-specs.ts';
import type { PreflightOptions } from '../../preflight/preflight-options.ts';
import type { PreflightReport } from '../../preflight/report.ts';
import { buildMigrationMethodBlockedError, runPreflightWithFiles } from '../../preflight/run-with-files.ts';
import type { DbSource } from '../source/read-source.ts';
import type { MigrationTargetServer } from './migration-target-server.ts';

/** Options of `db preflight` whose values a rehearsal reads from the target itself. */
export const preflightOptionsReadFromTarget: readonly string[] = [
  'target-version',
  'target-extensions',
  'target-memory',
  'allow-private',
  'judge-as-public',
];

/** What the target reports about itself. */
export interface RehearsalTargetFacts {
  /** The version of the target, in the form of `--target-version`. */
  readonly version: string;
  /** Extensions that can be created on the target; undefined for Redis, whose modules are not queried. */
  readonly extensions: readonly string[] | undefined;
}

/**
 * The options of `db preflight` that follow from the target of the rehearsal. The preflight of a rehearsal checks
 * addresses as seen from this machine.
 */
export function rehearsalPreflightOptions(
  args: ParsedArgs,
  settings: ResolvedProfileSettings,
  now: number,
  { source: { host, port }, engine }: MigrationTargetServer,
  { version, extensions }: RehearsalTargetFacts,
): PreflightOptions {
  return {
    ...readPreflightOptions(withoutOptions(args, preflightOptionsReadFromTarget), engine, settings, now),
    isOverInternet: false,
    targetVersion: version,
    targetExtensions: extensions?.map((name) => name.toLowerCase()),
    target: { host, port },
  };
}

/**
 * Runs the preflight, prints its report on stderr, and chooses the method. Throws a CliError if no migration method is
 * possible.
 */
export async function runRehearsalPreflight(
  io: CommandIo,
  args: ParsedArgs,
  source: DbSource,
  options: PreflightOptions,
): Promise<{ readonly report: PreflightReport; readonly method: 'continuous' | 'dump' }> {
  // In `db rehearse`, --report names the file of the rehearsal report, not of the preflight report.
  const { report } = await runPreflightWithFiles(
    io,
    withoutOptions(args, ['report', 'sarif-uri', 'baseline']),
    source,
    options,
  );
  const plain = (text: string): string => text;
  const styles = { bold: plain, dim: plain, red: plain, yellow: plain };
  await io.output.note(renderTextPreflightReport(report, styles).trimEnd().split('\n'), maxSanitizedTextLength);
  if (report.ok && report.method !== 'scan') return { report, method: report.method };
  if (report.ok || (report.verdict === 'scan' && args.value('method') === 'scan')) throw scanNotSupportedError();
  if (report.verdict === 'dump' && args.value('method') === undefined && !options.strict) {
    await io.output.note('The dump is rehearsed. Do not write to the source until it ends.');
    return { report, method: 'dump' };
  }
  throw buildMigrationMethodBlockedError(report, args.value('fix-sql'));
}

function scanNotSupportedError(): CliError {
  return new CliError('preflight_blocked', 'cannot rehearse the method scan: a rehearsal uses replication', {
    detail: 'source and target are unchanged',
    hint: 'run the command without `--method`',
  });
}

function withoutOptions(args: ParsedArgs, hidden: readonly string[]): ParsedArgs {
  return {
    positionals: args.positionals,
    value: (name) => (hidden.includes(name) ? undefined : args.value(name)),
    values: (name) => (hidden.includes(name) ? [] : args.values(name)),
    has: (name) => !hidden.includes(name) && args.has(name),
  };
}
