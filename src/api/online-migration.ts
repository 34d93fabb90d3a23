import { CliError } from '../base/errors.ts';
import { isLosslessNumberObject } from '../base/exact.ts';
import { isJsonRecord, type JsonRecord, tryParseExactJson } from '../base/json.ts';
import { redactSecrets } from '../base/redact.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { Secret } from '../base/secret.ts';
import type { ApiResponse } from './api-response.ts';
import type { ApiClient, ApiRequest } from './client.ts';

/**
 * The members of an online migration that the service sends. The response is open (docs/service.md S9.5), so
 * every member can be absent.
 */
export interface OnlineMigration {
  readonly id?: string;
  readonly status?: string;
  /** ISO 8601. */
  readonly createdAt?: string;
  /** The JSON object as the service sent it. */
  readonly raw: JsonRecord;
}

/** The latest migration of a cluster, with the time of the response. */
export interface FetchedOnlineMigration extends OnlineMigration {
  /**
   * The time of the response by the clock of the service, in milliseconds since the epoch; NaN when the response has no Date
   * header.
   */
  readonly readAt: number;
}

/** The server's clocks have a precision of one second, and the response may arrive late. */
const clockToleranceMs = 5000;

export function buildOnlineMigrationPath(cluster: string): string {
  return `/v2/databases/${cluster}/online-migration`;
}

/**
 * Reads the latest migration of a cluster; undefined when the service has no such cluster, or no migration into it. @param
 * secrets redacted in text of the service
 * @param until aborts the request; its reason is thrown
 */
export async function fetchOnlineMigration(
  api: ApiClient,
  cluster: string,
  { secrets = [], until }: Pick<ApiRequest, 'secrets' | 'until'> = {},
): Promise<FetchedOnlineMigration | undefined> {
  try {
    const response = await api.success({ method: 'GET', path: buildOnlineMigrationPath(cluster), secrets, until });
    const { date: readAt = Number.NaN } = response;
    const migration = decodeOnlineMigration(response, secrets);
    if (migration !== undefined) return { ...migration, readAt };
  } catch (error) {
    if (error instanceof CliError && error.code === 'not_found') return undefined;
    throw error;
  }
  throw new CliError(
    'api_error',
    `could not parse the response of GET ${buildOnlineMigrationPath(cluster)}: no migration in it`,
    {
      hint: `\`cloudctl api GET ${buildOnlineMigrationPath(cluster)}\` prints the response`,
    },
  );
}

/**
 * Members at the top level or in `online_migration`; an id may be a number. The result is undefined for a body that is not a
 * JSON object.
 */
export function decodeOnlineMigration(
  response: Pick<ApiResponse, 'text'>,
  secrets: readonly Secret[],
): OnlineMigration | undefined {
  const json = tryParseExactJson(response.text());
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const { online_migration: inner = json.value } = json.value;
  if (!isJsonRecord(inner)) return undefined;
  const text = (key: string): string | undefined => {
    const value = inner[key];
    if (typeof value !== 'string' && typeof value !== 'number' && !isLosslessNumberObject(value)) return undefined;
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
export function isMigrationCreatedWithin(
  { createdAt = '', readAt }: FetchedOnlineMigration,
  elapsed: number,
): boolean | undefined {
  const created = Date.parse(createdAt);
  // A `created_at` later than the time of reading has another time zone or is wrong, so the age of the migration is unknown.
  if (Number.isNaN(created) || Number.isNaN(readAt) || created > readAt + clockToleranceMs) return undefined;
  return created >= readAt - elapsed - clockToleranceMs;
}

/**
 * Whether a migration with this status has ended. docs/service.md does not list the status names; a migration with an unknown
 * status counts as running.
 */
export function isEndedMigrationStatus(status: string | undefined): boolean {
  return /^(cancell?ed|stopped|error(ed)?|failed|done|completed?|finished|succeeded)$/i.test(status ?? '');
}

/** Whether a migration with this status ended with an error. */
export function isFailedMigrationStatus(status: string | undefined): boolean {
  return /^(error(ed)?|failed)$/i.test(status ?? '');
}

/** Describes a migration in a message, such as `migration m-1, status running, started 2026-01-01T00:00:00Z`. */
export function describeOnlineMigration({ id, status, createdAt }: Omit<OnlineMigration, 'raw'>): string {
  const parts = [
    id === undefined || id === '' ? 'a migration' : `migration ${id}`,
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(createdAt === undefined || createdAt === '' ? [] : [`started ${createdAt}`]),
  ];
  return parts.join(', ');
}
