import { CliError } from '../base/errors.ts';
import { HttpSendError } from '../platform/http-sender.ts';
import { type ApiResponse, type RefusedRequestHints, toApiError } from './api-response.ts';
import type { ApiClient } from './client.ts';
import {
  buildOnlineMigrationPath,
  describeOnlineMigration,
  type FetchedOnlineMigration,
  fetchOnlineMigration,
  isEndedMigrationStatus,
} from './online-migration.ts';

/**
 * Stops a migration and resolves with the state that the service shows afterwards. The request names the migration, so that no
 * other one is stopped; only if the server does not know the path with the id, the path without the id is used. The result is
 * the state that the service shows after the request, whatever the response to the request was. If the service no longer shows
 * the migration after a successful request, the status is `stopped`.
 */
export async function stopOnlineMigration(
  api: ApiClient,
  cluster: string,
  migration: FetchedOnlineMigration,
  loginHints: RefusedRequestHints,
): Promise<FetchedOnlineMigration> {
  const path = buildOnlineMigrationPath(cluster);
  const named = migration.id === undefined ? path : `${path}/${encodeURIComponent(migration.id)}`;
  let failure = await sendStop(api, named, loginHints);
  if (isPathMissing(failure) && named !== path && (await isStillRunning(api, cluster, migration)))
    failure = await sendStop(api, path, loginHints);
  const shown = await fetchOnlineMigration(api, cluster).catch((error: unknown) => {
    if (failure === undefined && error instanceof CliError) return undefined;
    throw failure ?? error;
  });
  if (failure === undefined)
    return shown !== undefined && shown.id === migration.id
      ? shown
      : { ...migration, status: 'stopped', raw: { id: migration.id, status: 'stopped' } };
  if (shown !== undefined && shown.id === migration.id && isEndedMigrationStatus(shown.status)) return shown;
  if (isPathMissing(failure)) {
    throw new CliError('not_found', 'the service does not stop migrations through its API', {
      detail: `DELETE ${path}: status ${failure.status}; ${describeOnlineMigration(migration)}`,
      hint: 'stop the migration in the control panel',
      status: failure.status,
      requestId: failure.requestId,
    });
  }
  if (failure.status !== undefined && failure.status < 500) throw failure;
  throw new CliError(failure.code, 'it is not known whether the migration was stopped', {
    detail: `${failure.message}; the service shows ${describeOnlineMigration(shown ?? migration)}`,
    hint: `show the migration with \`cloudctl db status ${cluster}\`, and stop it again if it is running`,
    status: failure.status,
    requestId: failure.requestId,
    cause: failure,
  });
}

/** The error of a request that did not succeed; undefined after a success. */
async function sendStop(api: ApiClient, path: string, loginHints: RefusedRequestHints): Promise<CliError | undefined> {
  let response: ApiResponse;
  try {
    response = await api.request({ method: 'DELETE', path });
  } catch (error) {
    if (error instanceof CliError && error.cause instanceof HttpSendError && error.cause.sent) return error;
    throw error;
  }
  const isSuccess = response.status >= 200 && response.status < 300;
  return isSuccess ? undefined : toApiError(response, 'DELETE', path, loginHints);
}

function isPathMissing(failure: CliError | undefined): boolean {
  return [404, 405, 501].includes(failure?.status ?? 0);
}

async function isStillRunning(api: ApiClient, cluster: string, { id }: FetchedOnlineMigration): Promise<boolean> {
  const shown = await fetchOnlineMigration(api, cluster);
  return shown !== undefined && shown.id === id && !isEndedMigrationStatus(shown.status);
}
