import { CliError } from '../base/errors.ts';
import { tryParseExactJson } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import { SendError } from '../platform/http-sender.ts';
import {
  type ApiResponse,
  isProcessedRedirect,
  notJsonError,
  type RefusedHints,
  readErrorBody,
  toApiError,
} from './api-response.ts';
import type { ApiClient } from './client.ts';
import {
  decodeMigration,
  describeMigration,
  type FetchedMigration,
  fetchMigration,
  isCreatedWithin,
  isMigrationActive,
  listFailures,
  type MigrationFailure,
  migrationPath,
} from './online-migration.ts';

/** An online migration request (docs/service.md S9.2). Members that are absent here are omitted from the request. */
export interface MigrationRequest {
  readonly source: {
    readonly host: string;
    readonly port?: number;
    readonly dbname?: string;
    readonly username?: string;
    readonly password?: Secret;
  };
  readonly disableSsl?: boolean;
  readonly ignoreDbs?: readonly string[];
}

export interface StartedMigration {
  /** The id of the migration; empty when the service does not send it. */
  readonly id: string;
  readonly status: string;
  /** The creation time in ISO 8601; empty when the service does not send it. */
  readonly createdAt: string;
}

/** The error for a request that may have started a migration: no complete response arrived, and the service shows no migration. */
export class StartUnknownError extends CliError {}

/**
 * Starts an online migration into a cluster (docs/service.md S9.1). The request is sent only once, because it may have started the
 * migration even if the response is lost. After a lost response the latest migration of the cluster is read; it counts as
 * started if it was created after the request. The response is open (docs/service.md S9.5), so every 2xx without a body or
 * with a JSON body means success, and members that the response lacks are read from the cluster. A 2xx with another body is
 * most likely a web page from a proxy, so it counts as a lost response. @param commandOf a command for the profile, in
 * backquotes
 */
export async function requestMigration(
  api: ApiClient,
  cluster: string,
  request: MigrationRequest,
  loginHints: RefusedHints,
  commandOf: (words: string) => string,
): Promise<StartedMigration> {
  const { password, ...source } = request.source;
  const body = JSON.stringify({
    source: { ...source, ...(password === undefined ? {} : { password: password.reveal() }) },
    ...(request.disableSsl === undefined ? {} : { disable_ssl: request.disableSsl }),
    ...(request.ignoreDbs === undefined ? {} : { ignore_dbs: request.ignoreDbs }),
  });
  const path = migrationPath(cluster);
  const secrets = password === undefined ? [] : [password];
  const target: Target = { api, cluster, secrets, commandOf, sentAt: performance.now() };
  let response: ApiResponse;
  try {
    response = await api.request({ method: 'PUT', path, body, secrets });
  } catch (error) {
    if (!wasSent(error)) throw error;
    return adoptMigration(target, error);
  }
  const { status } = response;
  if (status >= 200 && status < 300) {
    const json = tryParseExactJson(response.text());
    if (response.raw.size > 0 && !json.ok) return adoptMigration(target, notJsonError(response, 'PUT', path, json));
    const told = decodeMigration(response, secrets);
    const shown = told?.id !== undefined && told.status !== undefined ? undefined : await readMigration(target);
    return toStarted(isNew(shown, target) ? { ...shown, ...told } : told);
  }
  const failure = toApiError(response, 'PUT', path, loginHints);
  if (status === 409) throw await alreadyRunningError(target, failure, readErrorBody(response).message);
  if (status < 500 && status !== 408 && !isProcessedRedirect(status)) throw failure;
  return adoptMigration(target, failure);
}

interface Target {
  readonly api: ApiClient;
  readonly cluster: string;
  readonly secrets: readonly Secret[];
  readonly commandOf: (words: string) => string;
  /** The time before the request was sent, by `performance.now()`. */
  readonly sentAt: number;
}

function toStarted({ id = '', status = 'running', createdAt = '' }: Partial<StartedMigration> = {}): StartedMigration {
  return { id, status, createdAt };
}

/** Whether a request that failed with this error may have reached the service. */
export function mayHaveArrived(error: unknown): boolean {
  if (error instanceof StartUnknownError || wasSent(error)) return true;
  return error instanceof CliError && error.status !== undefined;
}

function wasSent(error: unknown): error is CliError {
  return error instanceof CliError && error.cause instanceof SendError && error.cause.sent;
}

/** The latest migration of the cluster; undefined when the service shows none. */
async function readMigration({
  api,
  cluster,
  secrets,
}: Pick<Target, 'api' | 'cluster' | 'secrets'>): Promise<FetchedMigration | undefined> {
  try {
    return await fetchMigration(api, cluster, { secrets });
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function isNew(shown: FetchedMigration | undefined, { sentAt }: Target): shown is FetchedMigration {
  return shown !== undefined && isCreatedWithin(shown, performance.now() - sentAt) === true;
}

/** Finds the migration that was started by a request without a clear response. */
async function adoptMigration(target: Target, cause: CliError): Promise<StartedMigration> {
  const shown = await readMigration(target);
  if (isNew(shown, target)) return toStarted(shown);
  const found =
    shown === undefined
      ? 'the service shows no migration of this cluster'
      : `the service shows ${describeMigration(shown)}`;
  throw new StartUnknownError(cause.code, 'it is not known whether the migration was started', {
    detail: `${cause.message}; ${found}`,
    hint: `before you start the migration again, check whether it is running: ${target.commandOf(`db status ${target.cluster}`)}`,
    status: cause.status,
    requestId: cause.requestId,
    cause,
  });
}

function failureText({ database, reason }: MigrationFailure): string {
  return database === undefined ? `failed: ${reason}` : `database ${database} has failed: ${reason}`;
}

async function alreadyRunningError(target: Target, failure: CliError, reason: string | undefined): Promise<CliError> {
  const facts = reason === undefined ? [] : [reason];
  return conflictError(target, await readMigration(target), facts, {
    message: 'the service refused the migration: it conflicts with another migration',
    requestId: failure.requestId,
  });
}

/**
 * Throws the error that the service would respond with if a migration into the cluster is running. Whatever else the service
 * responds is an error of the request that starts the migration.
 */
export async function requireNoMigration(
  api: ApiClient,
  cluster: string,
  commandOf: (words: string) => string,
): Promise<void> {
  const shown = await readMigration({ api, cluster, secrets: [] });
  if (shown === undefined || !isMigrationActive(shown)) return;
  const message = 'cannot start the migration: another one into this cluster is running';
  throw conflictError({ cluster, commandOf }, shown, [], { message });
}

function conflictError(
  { cluster, commandOf }: Pick<Target, 'cluster' | 'commandOf'>,
  shown: FetchedMigration | undefined,
  reasons: readonly string[],
  { message, requestId }: { readonly message: string; readonly requestId?: string | undefined },
): CliError {
  const facts = [
    ...reasons,
    ...(shown?.id === undefined ? [] : [describeMigration(shown)]),
    ...(shown === undefined ? [] : listFailures(shown).slice(0, 1).map(failureText)),
  ];
  return new CliError('api_error', message, {
    detail: facts.length === 0 ? undefined : facts.join('; '),
    hint: `show the other migration with ${commandOf(`db status ${cluster}`)}; stop it with ${commandOf(`db stop ${cluster}`)}`,
    // The status of the response to a request that is not sent, so that a script knows the conflict by one status.
    status: 409,
    requestId,
  });
}
