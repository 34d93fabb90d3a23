import { CliError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { nearestWord } from '../../cli/values.ts';
import type { HostSystem } from '../../platform/host.ts';
import { findPgPassword } from '../../postgresql/pgpass.ts';
import {
  type PreflightBaseline,
  type PreflightReport,
  runPreflight,
  type SchemaFingerprints,
} from '../preflight/index.ts';
import { readFingerprints } from '../preflight/queries.ts';
import type { DbSource } from '../source/index.ts';
import type { ConnectionResult } from './connection.ts';
import type { Entry } from './entry.ts';
import { describeBaselineChanges, type FileFailures, readSourceBaseline, writeSourceReport } from './files.ts';
import type { Slot } from './limits.ts';
import { checkedOutcome, type Outcome, uncheckedOutcome } from './outcome.ts';
import type { PostgresqlEngines } from './postgresql.ts';
import type { RedisEngines } from './redis.ts';
import type { ResultCache } from './result-cache.ts';
import { type PasswordCommandResult, runPasswordCommand } from './run-password-command.ts';

export interface Checker {
  readonly postgresql: PostgresqlEngines;
  readonly redis: RedisEngines;
  readonly host: HostSystem;
  readonly signal: AbortSignal;
  /** Time limit of the preflight of one source, in milliseconds. */
  readonly deadline: number;
  /** Paths of the folders with one file for each source. */
  readonly baselines: string | undefined;
  readonly reports: string | undefined;
  readonly files: FileFailures;
  /** Schemas are read once for all sources on the same server. */
  readonly schemas: ResultCache<SchemaFingerprints | undefined>;
  readonly onQuery: (name: string, place: string, text: string) => void;
}

/** Runs the preflight of one source, writes its files, and keeps what the report of the inventory needs. */
export async function checkSource(entry: Entry, slot: Slot, checker: Checker): Promise<Outcome> {
  const { line, name, url, options } = entry;
  const origin = { line, name, url, engine: entry.source.engine, method: options.method };
  const found = await findPassword(entry, checker);
  if (found !== undefined && 'failure' in found)
    return uncheckedOutcome(origin, `the password command failed: ${found.failure}`);
  const source = found === undefined ? entry.source : entry.withPassword(found.password);
  const seen: ConnectionResult = { server: undefined, unreachable: undefined, lacksPassword: false };
  const report = await runSource(entry, source, slot, seen, checker).catch(failureReason);
  if (typeof report === 'string') return uncheckedOutcome(origin, report);
  const { reports, files } = checker;
  if (reports !== undefined) files.attempt(() => writeSourceReport(reports, name, report));
  const reason = seen.lacksPassword ? 'the server requires a password, and there is none' : seen.unreachable;
  if (reason !== undefined) return uncheckedOutcome(origin, reason, report);
  const changes = await compareWithBaseline(entry, source, report, seen, checker);
  return checkedOutcome(origin, report, seen.server, changes);
}

/** Errors of one source, such as an unknown database in ignore_dbs, do not end the inventory. */
function failureReason(error: unknown): string {
  if (error instanceof CliError && error.code === 'cancelled') throw error;
  if (error instanceof CliError)
    return [error.message, ...(error.detail ?? '').split('\n', 1)].filter(Boolean).join('; ');
  // The message of an unexpected error may contain a secret, so only the name of the error is returned.
  return `an error in the program: ${error instanceof Error ? error.name : typeof error}`;
}

/** The password from outside the list, or why its program failed; undefined if there is none, or if the URL has it. */
async function findPassword(
  { name, passwordCommand, source: { engine, source } }: Entry,
  { host: { env, platform }, signal }: Checker,
): Promise<PasswordCommandResult | undefined> {
  if (source.password !== undefined) return undefined;
  if (passwordCommand !== undefined) {
    const { host, port, username = '' } = source;
    const dbname = 'dbname' in source ? source.dbname : '';
    return runPasswordCommand(passwordCommand, { source: { name, host, port, dbname, username }, env, signal });
  }
  const { REDISCLI_AUTH = '' } = env;
  const password =
    engine === 'postgresql'
      ? findPgPassword(source, env, platform).password
      : REDISCLI_AUTH === ''
        ? undefined
        : new Secret(REDISCLI_AUTH);
  return password === undefined ? undefined : { password };
}

function runSource(
  entry: Entry,
  source: DbSource,
  slot: Slot,
  seen: ConnectionResult,
  checker: Checker,
): Promise<PreflightReport> {
  const { host, deadline, signal } = checker;
  const common = {
    options: entry.options,
    deadline,
    signal,
    clock: host.clock,
    nearest: nearestWord,
    onQuery: (place: string, text: string) => checker.onQuery(entry.name, place, text),
  };
  return source.engine === 'redis'
    ? runPreflight(checker.redis(slot, seen), { ...common, source: source.source })
    : runPreflight(checker.postgresql(entry, slot, seen), { ...common, source: source.source });
}

/** Returns the changes since the baseline; writes a baseline if there is none. Undefined without `--baseline`. */
async function compareWithBaseline(
  entry: Entry,
  source: DbSource,
  report: PreflightReport,
  seen: ConnectionResult,
  { baselines, host, files, schemas }: Checker,
): Promise<readonly string[] | undefined> {
  if (baselines === undefined) return undefined;
  let baseline: PreflightBaseline | undefined;
  const isRead = files.attempt(() => {
    baseline = readSourceBaseline(baselines, entry.name);
  });
  if (!isRead) return undefined;
  const { address, port, username } = report.source;
  const key = JSON.stringify([seen.server, address, port, username, entry.options.ignoreDbs]);
  const read = () => readFingerprints(host.clock, source, entry.options, report).catch(noSchemas);
  const { value } = await schemas(key, read, (all) => all !== undefined);
  const own = value === undefined ? undefined : schemasOfDatabases(value, report);
  if (baseline !== undefined) return describeBaselineChanges(baseline, report, own);
  files.attempt(() => writeSourceReport(baselines, entry.name, { ...report, schemas: own }));
  return undefined;
}

/** A source that cannot be reached any more after its preflight gets a baseline without schemas. */
function noSchemas(error: unknown): undefined {
  if (error instanceof CliError) return undefined;
  throw error;
}

function schemasOfDatabases(schemas: SchemaFingerprints, { databases }: PreflightReport): SchemaFingerprints {
  const names = databases.map(({ name }) => `${name}.`);
  return Object.fromEntries(Object.entries(schemas).filter(([key]) => names.some((name) => key.startsWith(name))));
}
