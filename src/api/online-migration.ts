import { CliError } from '../base/errors.ts';
import { isLossless } from '../base/exact.ts';
import { isJsonRecord, type JsonRecord, readStringField, readStringList, tryParseExactJson } from '../base/json.ts';
import { redactSecrets } from '../base/redact.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { Secret } from '../base/secret.ts';
import type { ApiResponse } from './api-response.ts';
import type { ApiClient, ApiRequest } from './client.ts';

/**
 * The members of an online migration that the service sends. The response is open (docs/service.md S9.5), so
 * every member can be absent.
 */
export interface Migration {
  readonly id?: string;
  readonly status?: string;
  /** ISO 8601. */
  readonly createdAt?: string;
  /** The JSON object as the service sent it. */
  readonly raw: JsonRecord;
}

/** The latest migration of a cluster, with the time of the response. */
export interface FetchedMigration extends Migration {
  /**
   * The time of the response by the clock of the service, in milliseconds since the epoch; NaN when the response has no Date
   * header.
   */
  readonly readAt: number;
}

/** The server's clocks have a precision of one second, and the response may arrive late. */
const clockToleranceMs = 5000;

export function migrationPath(cluster: string): string {
  return `/v2/databases/${cluster}/online-migration`;
}

/**
 * Reads the latest migration of a cluster; undefined when the service has no such cluster, or no migration into it. @param
 * secrets redacted in text of the service
 * @param until aborts the request; its reason is thrown
 */
export async function fetchMigration(
  api: ApiClient,
  cluster: string,
  { secrets = [], until }: Pick<ApiRequest, 'secrets' | 'until'> = {},
): Promise<FetchedMigration | undefined> {
  try {
    const response = await api.success({ method: 'GET', path: migrationPath(cluster), secrets, until });
    const { date: readAt = Number.NaN } = response;
    const migration = decodeMigration(response, secrets);
    if (migration !== undefined) return { ...migration, readAt };
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined;
    throw error;
  }
  throw new CliError('api_error', `could not parse the response of GET ${migrationPath(cluster)}: no migration in it`, {
    hint: `\`cloudctl api GET ${migrationPath(cluster)}\` prints the response`,
  });
}

/**
 * Members at the top level or in `online_migration`; an id may be a number. The result is undefined for a body that is not a
 * JSON object.
 */
export function decodeMigration(
  response: Pick<ApiResponse, 'text'>,
  secrets: readonly Secret[],
): Migration | undefined {
  const json = tryParseExactJson(response.text());
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const { online_migration: inner = json.value } = json.value;
  if (!isJsonRecord(inner)) return undefined;
  const text = (key: string): string | undefined => {
    const value = inner[key];
    if (typeof value !== 'string' && typeof value !== 'number' && !isLossless(value)) return undefined;
    return sanitizeLine(redactSecrets(String(value), secrets), 200);
  };
  const [id, status, createdAt] = [text('id'), text('status'), text('created_at')];
  return {
    raw: inner,
    ...(id === undefined ? {} : { id }),
    ...(status === undefined ? {} : { status }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

/**
 * Whether the migration was created in the last `elapsed` milliseconds; undefined when its creation time is missing or
 * cannot be right.
 */
export function isCreatedWithin({ createdAt = '', readAt }: FetchedMigration, elapsed: number): boolean | undefined {
  const created = Date.parse(createdAt);
  // A `created_at` later than the time of reading has another time zone or is wrong, so the age of the migration is unknown.
  if (Number.isNaN(created) || Number.isNaN(readAt) || created > readAt + clockToleranceMs) return undefined;
  return created >= readAt - elapsed - clockToleranceMs;
}

/**
 * Whether a migration with this status has ended. docs/service.md does not list the status names; a migration with an unknown
 * status counts as running.
 */
export function isEndedStatus(status: string | undefined): boolean {
  return /^(cancell?ed|stopped|error(ed)?|failed|done|completed?|finished|succeeded)$/i.test(status ?? '');
}

/** Whether a migration with this status ended with an error. */
export function isFailedStatus(status: string | undefined): boolean {
  return /^(error(ed)?|failed)$/i.test(status ?? '');
}

/** One database of a migration, as the service reports it; every member may be absent. */
export interface MigratedDatabase {
  readonly name: string;
  /** Such as `copying`; undefined when the service does not send it. */
  readonly phase: string | undefined;
  /** Why nothing is transferred at present. */
  readonly reason: string | undefined;
  /** Why the database failed; undefined if it has not failed. */
  readonly failure: string | undefined;
}

/** The names and reasons are sanitized, but may hold any text of the service. */
export function readMigratedDatabases({ raw }: Pick<Migration, 'raw'>): readonly MigratedDatabase[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  return databases.slice(0, 10_000).map((database) => {
    const text = (key: string): string | undefined => {
      const value = readStringField(database, key);
      return value === undefined || value === '' ? undefined : sanitizeLine(value, 300);
    };
    const [phase, error] = [text('phase'), text('error')];
    const hasFailed = error !== undefined || isFailedStatus(phase);
    const failure = hasFailed ? (error ?? text('reason') ?? 'the service gave no reason') : undefined;
    return { name: text('name') ?? 'a database', phase, reason: text('reason'), failure };
  });
}

/** A part of a migration that failed; `database` is undefined for the whole migration. */
export interface MigrationFailure {
  readonly database: string | undefined;
  readonly reason: string;
}

/**
 * What failed, leaving out the databases in `ignored`. A database can fail while the others replicate and the status is
 * still `running`.
 */
export function listFailures(
  migration: Pick<Migration, 'status' | 'raw'>,
  ignored: readonly string[] = [],
): readonly MigrationFailure[] {
  const databases = readMigratedDatabases(migration).filter(({ name }) => !ignored.includes(name));
  const failuresOf = (key: 'failure' | 'reason') =>
    databases.flatMap(({ name, [key]: reason }) => (reason === undefined ? [] : [{ database: name, reason }]));
  const failures = failuresOf('failure');
  if (failures.length > 0 || !isFailedStatus(migration.status)) return failures;
  const whole = readStringField(migration.raw, 'reason');
  if (whole === undefined && failuresOf('reason').length > 0) return failuresOf('reason');
  return [{ database: undefined, reason: sanitizeLine(whole ?? 'the service gave no reason', 300) }];
}

/** At most three failures in one line, such as `shop: the target is not empty`. */
export function describeFailures(failures: readonly MigrationFailure[]): string {
  const shown = failures
    .slice(0, 3)
    .map(({ database, reason }) => (database === undefined ? reason : `${database}: ${reason}`));
  return `${shown.join('; ')}${failures.length > 3 ? `; and ${failures.length - 3} more` : ''}`;
}

/** The databases that have not ended, as `shop (finishing)`. */
export function listActiveDatabases(migration: Pick<Migration, 'raw'>): readonly string[] {
  return readMigratedDatabases(migration).flatMap(({ name, phase }) =>
    phase === undefined || isEndedStatus(phase) ? [] : [`${name} (${phase})`],
  );
}

/**
 * Whether a part of the migration may still replicate or finish. The phases of the databases decide where the service sends
 * them, because one that has failed or was stopped says nothing of the others.
 */
export function isMigrationActive(migration: Pick<Migration, 'status' | 'raw'>): boolean {
  if (readMigratedDatabases(migration).some(({ phase }) => phase !== undefined))
    return listActiveDatabases(migration).length > 0;
  return readStringField(migration.raw, 'stopped_at') === undefined && !isEndedStatus(migration.status);
}

/** Whether the migration was told to stop, and a database has not ended yet. */
export function isMigrationStopping(migration: Pick<Migration, 'status' | 'raw'>): boolean {
  if (!isMigrationActive(migration)) return false;
  const { status, raw } = migration;
  if (readStringField(raw, 'stopped_at') !== undefined || isEndedStatus(status)) return true;
  // A database that is copied by dump also finishes when nothing was stopped.
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  const isEnding = databases.some(
    ({ phase, method }) => phase === 'stopped' || (phase === 'finishing' && method !== 'dump'),
  );
  return isEnding || ['stopped_by_user', 'max_duration'].includes(readStringField(raw, 'reason') ?? '');
}

/** A warning of the service; `database` is undefined for the whole migration. */
export interface MigrationWarning {
  readonly database: string | undefined;
  readonly text: string;
}

export function readWarnings({ raw }: Pick<Migration, 'raw'>): readonly MigrationWarning[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  return [raw, ...databases]
    .flatMap((one) => {
      const database = one === raw ? undefined : readStringField(one, 'name');
      return readStringList(one.warnings).map((text) => ({ database, text: sanitizeLine(text, 1000) }));
    })
    .slice(0, 1000);
}

/** The warnings of a migration and of its databases, each once. */
export function listWarnings(migration: Pick<Migration, 'raw'>): readonly string[] {
  const texts = readWarnings(migration).map(({ database, text }) =>
    database === undefined ? text : `${sanitizeLine(database, 300)}: ${text}`,
  );
  return [...new Set(texts)];
}

/** Describes a migration in a message, such as `migration m-1, status running, started 2026-01-01T00:00:00Z`. */
export function describeMigration({ id, status, createdAt }: Omit<Migration, 'raw'>): string {
  const parts = [
    id === undefined || id === '' ? 'a migration' : `migration ${id}`,
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(createdAt === undefined || createdAt === '' ? [] : [`started ${createdAt}`]),
  ];
  return parts.join(', ');
}
