import { CliError } from '../base/errors.ts';
import { readStringField } from '../base/json.ts';
import type { Clock } from '../platform/host.ts';
import { SendError } from '../platform/http-sender.ts';
import { type ApiResponse, type RefusedHints, toApiError } from './api-response.ts';
import type { ApiClient } from './client.ts';
import {
  describeMigration,
  type FetchedMigration,
  fetchMigration,
  isFailedStatus,
  isMigrationActive,
  isMigrationStopping,
  migrationPath,
  readMigratedDatabases,
} from './online-migration.ts';

/**
 * Whether a request is needed to stop a migration. A status that says `error` is no proof that nothing replicates, unless the
 * service says when it stopped, or that every database has ended.
 */
export function needsStopRequest(migration: FetchedMigration): boolean {
  const { status, raw } = migration;
  if (readStringField(raw, 'stopped_at') !== undefined) return false;
  const isUnproven = isFailedStatus(status) && readMigratedDatabases(migration).every(({ phase }) => !phase);
  return isUnproven || isMigrationActive(migration);
}

interface MigrationEndOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds after which the wait ends, whatever the migration does. */
  readonly limit: number;
  readonly onPoll: (migration: FetchedMigration) => void;
}

/**
 * Polls the migration until no database is active, or until the time limit; resolves with the last state. If the service no
 * longer shows the migration, the wait is over. A service that names neither a database nor the stop may never show the end, so
 * the wait for its status is short. Throws after five failed polls in a row.
 */
export async function awaitEnd(
  api: ApiClient,
  cluster: string,
  stopping: FetchedMigration,
  { clock, signal, limit, onPoll }: MigrationEndOptions,
): Promise<FetchedMigration> {
  const startedAt = clock.now();
  let last = stopping;
  for (let failures = 0; ; ) {
    try {
      const shown = await fetchMigration(api, cluster, { until: signal });
      if (shown === undefined || shown.id !== stopping.id) return withoutState(stopping);
      last = shown;
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!(error instanceof CliError) || signal.aborted || error.exitCode === 4 || failures === maxFailures)
        throw error;
    }
    const showsEnd = readMigratedDatabases(last).length > 0 || isMigrationStopping(last);
    const patience = showsEnd ? limit : Math.min(limit, statusPatienceMs);
    if (failures === 0 && (!isMigrationActive(last) || clock.now() - startedAt >= patience)) return last;
    onPoll(last);
    await clock.sleep(pollIntervalMs, signal);
  }
}

/** Whether the service shows that nothing of the migration is active; a status that says `error` alone does not. */
export function hasMigrationEnded(migration: FetchedMigration): boolean {
  return !isMigrationActive(migration) && !needsStopRequest(migration);
}

const statusPatienceMs = 5000;
const pollIntervalMs = 1000;
const maxFailures = 5;

/** The migration that the service no longer shows. */
function withoutState(migration: FetchedMigration): FetchedMigration {
  return { ...migration, status: 'stopped', raw: { id: migration.id, status: 'stopped' } };
}

/**
 * Stops a migration and resolves with the state that the service shows afterwards. The request names the migration, so that no
 * other one is stopped; only if the server does not know the path with the id, the path without the id is used. The result is
 * the state that the service shows after the request, whatever the response to the request was. If the service no longer shows
 * the migration after a successful request, the status is `stopped`.
 */
export async function requestStop(
  api: ApiClient,
  cluster: string,
  migration: FetchedMigration,
  loginHints: RefusedHints,
): Promise<FetchedMigration> {
  const path = migrationPath(cluster);
  const named = migration.id === undefined ? path : `${path}/${encodeURIComponent(migration.id)}`;
  let failure = await sendStop(api, named, loginHints);
  if (isPathMissing(failure) && named !== path && (await isStillRunning(api, cluster, migration)))
    failure = await sendStop(api, path, loginHints);
  const shown = await fetchMigration(api, cluster).catch((error: unknown) => {
    if (failure === undefined && error instanceof CliError) return undefined;
    throw failure ?? error;
  });
  if (failure === undefined) return shown !== undefined && shown.id === migration.id ? shown : withoutState(migration);
  if (shown !== undefined && shown.id === migration.id && !needsStopRequest(shown)) return shown;
  if (isPathMissing(failure)) {
    throw new CliError('not_found', 'the service does not stop migrations through its API', {
      detail: `DELETE ${path}: status ${failure.status}; ${describeMigration(migration)}`,
      hint: 'stop the migration in the control panel',
      status: failure.status,
      requestId: failure.requestId,
    });
  }
  if (failure.status !== undefined && failure.status < 500) throw failure;
  throw new CliError(failure.code, 'it is not known whether the migration was stopped', {
    detail: `${failure.message}; the service shows ${describeMigration(shown ?? migration)}`,
    hint: `show the migration with \`cloudctl db status ${cluster}\`, and stop it again if it is running`,
    status: failure.status,
    requestId: failure.requestId,
    cause: failure,
  });
}

/** The error of a request that did not succeed; undefined after a success. */
async function sendStop(api: ApiClient, path: string, loginHints: RefusedHints): Promise<CliError | undefined> {
  let response: ApiResponse;
  try {
    response = await api.request({ method: 'DELETE', path });
  } catch (error) {
    if (error instanceof CliError && error.cause instanceof SendError && error.cause.sent) return error;
    throw error;
  }
  const isSuccess = response.status >= 200 && response.status < 300;
  return isSuccess ? undefined : toApiError(response, 'DELETE', path, loginHints);
}

function isPathMissing(failure: CliError | undefined): boolean {
  return [404, 405, 501].includes(failure?.status ?? 0);
}

async function isStillRunning(api: ApiClient, cluster: string, { id }: FetchedMigration): Promise<boolean> {
  const shown = await fetchMigration(api, cluster);
  return shown !== undefined && shown.id === id && needsStopRequest(shown);
}
