import { CliError } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { nearestWord } from '../cli/nearest-word.ts';
import type { DbSource } from '../db-source/read-source.ts';
import type { Clock, ProcessEnvironment } from '../platform/host.ts';
import { findPasswordInPgpasswordOrPgpass } from '../postgresql/pgpass.ts';
import type { PreflightBaseline, SchemaFingerprints } from '../preflight/baseline.ts';
import { readSchemaFingerprints } from '../preflight/read-schema-fingerprints.ts';
import type { PreflightReport } from '../preflight/report.ts';
import { runPreflight } from '../preflight/run.ts';
import type { InventoryFileFailures } from './inventory-file-failures.ts';
import type { InventoryPostgresqlEngineFactory } from './inventory-postgresql-engine-factory.ts';
import type { InventoryRedisEngineFactory } from './inventory-redis-engine-factory.ts';
import type { InventorySourceConnectionResult } from './inventory-source-connection-result.ts';
import {
  buildUncheckedSourceOutcome,
  condensePreflightReport,
  type InventorySourceOutcome,
} from './inventory-source-outcome.ts';
import {
  describeBaselineChanges,
  type PerSourceFileFolder,
  readPreflightBaselineOfSource,
  writeInventorySourceReport,
} from './per-source-file-folder.ts';
import { createResultCache, type ResultCache } from './result-cache.ts';
import type { ServerConcurrencySlot } from './run-for-each-source-within-limits.ts';
import { type PasswordCommandResult, runPasswordCommand } from './run-password-command.ts';
import type { SourceInventoryEntry } from './source-inventory-entry.ts';

export interface InventorySourceCheckDeps {
  readonly postgresql: InventoryPostgresqlEngineFactory;
  readonly redis: InventoryRedisEngineFactory;
  readonly env: ProcessEnvironment;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Time limit of the preflight of one source, in milliseconds. */
  readonly deadline: number;
  readonly baselines: PerSourceFileFolder | undefined;
  readonly reports: PerSourceFileFolder | undefined;
  readonly files: InventoryFileFailures;
  readonly schemas: ResultCache<SchemaFingerprints | undefined>;
  readonly onQuery: (name: string, place: string, text: string) => void;
}

/** Creates a cache of schema fingerprints, so that they are read once for all sources on the same server. */
export function createPerServerSchemaFingerprintsCache(): InventorySourceCheckDeps['schemas'] {
  return createResultCache((schemas) => Object.keys(schemas ?? {}).length, 100_000);
}

/** Runs the preflight of one source, writes its files, and keeps what the report of the inventory needs. */
export async function checkInventorySource(
  entry: SourceInventoryEntry,
  slot: ServerConcurrencySlot,
  checker: InventorySourceCheckDeps,
): Promise<InventorySourceOutcome> {
  const { engine } = entry.withPassword(undefined);
  const origin = { line: entry.line, name: entry.name, url: entry.url, engine, method: entry.options.method };
  const found = await findPassword(entry, checker);
  if ('failure' in found) return buildUncheckedSourceOutcome(origin, `the password command failed: ${found.failure}`);
  const source = entry.withPassword(found.password);
  const seen: InventorySourceConnectionResult = { server: undefined, unreachable: undefined, lacksPassword: false };
  const report = await runSource(entry, source, slot, seen, checker).catch(failureReason);
  if (typeof report === 'string') return buildUncheckedSourceOutcome(origin, report);
  const { reports, files } = checker;
  if (reports !== undefined) files.attempt(() => writeInventorySourceReport(reports, entry.name, report));
  const reason = seen.lacksPassword ? 'the server requires a password, and there is none' : seen.unreachable;
  if (reason !== undefined) return buildUncheckedSourceOutcome(origin, reason, report);
  const changes = await compareWithBaseline(entry, source, report, seen, checker);
  return condensePreflightReport(origin, report, seen.server, changes);
}

/** Errors of one source, such as an unknown database in ignore_dbs, do not end the inventory. */
function failureReason(error: unknown): string {
  if (error instanceof CliError && error.code === 'cancelled') throw error;
  if (error instanceof CliError)
    return [error.message, ...(error.detail ?? '').split('\n', 1)].filter(Boolean).join('; ');
  // The message of an unexpected error may contain a secret, so only the name of the error is returned.
  return `an error in the program: ${error instanceof Error ? error.name : typeof error}`;
}

async function findPassword(
  { name, passwordCommand, withPassword }: SourceInventoryEntry,
  { env, platform, signal }: InventorySourceCheckDeps,
): Promise<PasswordCommandResult | { readonly password: undefined }> {
  const { engine, source } = withPassword(undefined);
  if (source.password !== undefined) return { password: source.password };
  if (passwordCommand !== undefined) {
    const { host, port, username = '' } = source;
    const dbname = 'dbname' in source ? source.dbname : '';
    return runPasswordCommand(passwordCommand, { source: { name, host, port, dbname, username }, env, signal });
  }
  if (engine === 'postgresql') return { password: findPasswordInPgpasswordOrPgpass(source, env, platform).password };
  const { REDISCLI_AUTH = '' } = env;
  return { password: REDISCLI_AUTH === '' ? undefined : new Secret(REDISCLI_AUTH) };
}

function runSource(
  entry: SourceInventoryEntry,
  source: DbSource,
  slot: ServerConcurrencySlot,
  seen: InventorySourceConnectionResult,
  checker: InventorySourceCheckDeps,
): Promise<PreflightReport> {
  const { clock, deadline, signal } = checker;
  const common = {
    options: entry.options,
    deadline,
    signal,
    clock,
    nearest: nearestWord,
    onQuery: (place: string, text: string) => checker.onQuery(entry.name, place, text),
  };
  return source.engine === 'redis'
    ? runPreflight(checker.redis(slot, seen), { ...common, source: source.source })
    : runPreflight(checker.postgresql(entry, slot, seen), { ...common, source: source.source });
}

/** Returns the changes since the baseline; writes a baseline if there is none. Undefined without `--baseline`. */
async function compareWithBaseline(
  entry: SourceInventoryEntry,
  source: DbSource,
  report: PreflightReport,
  seen: InventorySourceConnectionResult,
  { baselines, clock, files, schemas }: InventorySourceCheckDeps,
): Promise<readonly string[] | undefined> {
  if (baselines === undefined) return undefined;
  let baseline: PreflightBaseline | undefined;
  const isRead = files.attempt(() => {
    baseline = readPreflightBaselineOfSource(baselines, entry.name);
  });
  if (!isRead) return undefined;
  const { address, port, username } = report.source;
  const key = JSON.stringify([seen.server, address, port, username, entry.options.ignoreDbs]);
  const read = () => readSchemaFingerprints(clock, source, entry.options, report).catch(noSchemas);
  const { value } = await schemas(key, read, (all) => all !== undefined);
  const own = value === undefined ? undefined : schemasOfDatabases(value, report);
  if (baseline !== undefined) return describeBaselineChanges(baseline, report, own);
  files.attempt(() => writeInventorySourceReport(baselines, entry.name, { ...report, schemas: own }));
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
