import { CliError } from '../errors.ts';
import { isExactNumber } from '../exact.ts';
import { isRecord, parseExactJson } from '../json.ts';
import { SendError } from '../platform/http-sender.ts';
import { sanitizeLine } from '../sanitize/terminal-text.ts';
import type { Secret } from '../secret.ts';
import { type ApiResponse, type LoginHints, readProblemBody, toApiError } from './api-response.ts';
import type { Api } from './client.ts';

/** An online migration request (spec.md §2). Absent members are not sent. */
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
  /** Empty when the service does not tell it. */
  readonly id: string;
  readonly status: string;
  /** ISO 8601; empty when the service does not tell it. */
  readonly createdAt: string;
}

/** The request may have started the migration: no complete response arrived, and the service does not show one. */
export class MigrationUnknownError extends CliError {}

/** Clocks have a precision of one second, and the response may take a while. */
const clockToleranceMs = 5000;

/**
 * Starts an online migration into a cluster (spec.md §4.5). The request is sent once, because a lost response may have started
 * it: then the migration of the cluster is read, and counts if it was created since. The specification does not show the
 * response, so every 2xx is an acceptance, and what it does not tell is read.
 */
export async function startOnlineMigration(
  api: Api,
  cluster: string,
  request: MigrationRequest,
  loginHints: LoginHints,
): Promise<StartedMigration> {
  const { password, ...source } = request.source;
  const body = JSON.stringify({
    source: { ...source, ...(password === undefined ? {} : { password: password.reveal() }) },
    ...(request.disableSsl === undefined ? {} : { disable_ssl: request.disableSsl }),
    ...(request.ignoreDbs === undefined ? {} : { ignore_dbs: request.ignoreDbs }),
  });
  const path = migrationPath(cluster);
  const secrets = password === undefined ? [] : [password];
  const sentAt = performance.now();
  let response: ApiResponse;
  try {
    response = await api.request({ method: 'PUT', path, body, secrets });
  } catch (error) {
    if (!wasSent(error)) throw error;
    return adoptMigration(api, cluster, performance.now() - sentAt, error);
  }
  const { status } = response;
  if (status >= 200 && status < 300) {
    const told = decodeMigration(response);
    if (told?.id !== undefined && told.status !== undefined) return { ...unknownMigration, ...told };
    const shown = await readMigration(api, cluster);
    return { ...unknownMigration, ...shown?.migration, ...told };
  }
  const failure = toApiError(response, 'PUT', path, loginHints);
  if (status === 409) throw await alreadyRunningError(api, cluster, failure, readProblemBody(response).message);
  if (status < 500 && status !== 408) throw failure;
  return adoptMigration(api, cluster, performance.now() - sentAt, failure);
}

const unknownMigration: StartedMigration = { id: '', status: 'running', createdAt: '' };

function migrationPath(cluster: string): string {
  return `/v2/databases/${cluster}/online-migration`;
}

/** Whether the service may have received the request. */
function wasSent(error: unknown): error is CliError {
  return error instanceof CliError && error.cause instanceof SendError && error.cause.sent;
}

interface ShownMigration {
  readonly migration: Partial<StartedMigration>;
  /** The clock of the server, in milliseconds. */
  readonly date: number | undefined;
}

/** The latest migration of the cluster; undefined when the service shows none. */
async function readMigration(api: Api, cluster: string): Promise<ShownMigration | undefined> {
  try {
    const response = await api.success({ method: 'GET', path: migrationPath(cluster) });
    const migration = decodeMigration(response);
    return migration === undefined ? undefined : { migration, date: response.date };
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Members at the top level or in `online_migration`; an id may be a number. */
function decodeMigration(response: Pick<ApiResponse, 'text'>): Partial<StartedMigration> | undefined {
  const json = parseExactJson(response.text());
  if (!json.ok || !isRecord(json.value)) return undefined;
  const { online_migration: inner = json.value } = json.value;
  if (!isRecord(inner)) return undefined;
  const text = (key: string): string | undefined => {
    const value = inner[key];
    return typeof value === 'string' || isExactNumber(value) ? sanitizeLine(String(value), 200) : undefined;
  };
  const [id, status, createdAt] = [text('id'), text('status'), text('created_at')];
  return {
    ...(id === undefined ? {} : { id }),
    ...(status === undefined ? {} : { status }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

/**
 * The migration that a request without a clear response has started.
 * @param elapsed milliseconds since the request was sent
 */
async function adoptMigration(api: Api, cluster: string, elapsed: number, cause: CliError): Promise<StartedMigration> {
  const askedAt = performance.now();
  const shown = await readMigration(api, cluster);
  const { id, status, createdAt } = { ...unknownMigration, ...shown?.migration };
  const since = (shown?.date ?? Number.NaN) - (performance.now() - askedAt) - elapsed - clockToleranceMs;
  if (Date.parse(createdAt) >= since) return { id, status, createdAt };
  const found =
    shown === undefined
      ? 'the service shows no migration of this cluster'
      : `the service shows a migration with the status ${status}${createdAt === '' ? '' : ` of ${createdAt}`}`;
  throw new MigrationUnknownError(cause.code, 'it is not known whether the migration was started', {
    detail: `${cause.message}; ${found}`,
    hint: `before you start it again, look for it: \`cloudctl api GET ${migrationPath(cluster)}\``,
    status: cause.status,
    requestId: cause.requestId,
    cause,
  });
}

async function alreadyRunningError(
  api: Api,
  cluster: string,
  failure: CliError,
  reason: string | undefined,
): Promise<CliError> {
  const { id, status, createdAt } = { ...unknownMigration, ...(await readMigration(api, cluster))?.migration };
  const shown = id === '' ? [] : [`migration ${id}, status ${status}${createdAt === '' ? '' : `, since ${createdAt}`}`];
  const path = migrationPath(cluster);
  return new CliError(failure.code, 'the service refused the migration: it conflicts with another one', {
    detail: [...(reason === undefined ? [] : [reason]), ...shown].join('; '),
    hint: `see it with \`cloudctl api GET ${path}\`; stop it with \`cloudctl api DELETE ${path}\``,
    status: failure.status,
    requestId: failure.requestId,
  });
}
