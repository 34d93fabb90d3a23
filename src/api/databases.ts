import { CliError } from '../errors.ts';
import { isExactNumber } from '../exact.ts';
import { isRecord, parseExactJson } from '../json.ts';
import { SendError } from '../platform/http-sender.ts';
import { sanitizeLine } from '../sanitize/terminal-text.ts';
import { redactSecrets, type Secret } from '../secret.ts';
import {
  type ApiResponse,
  isRedirectToResult,
  type LoginHints,
  notJsonError,
  readProblemBody,
  toApiError,
} from './api-response.ts';
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
 * response, so every 2xx without a body or with JSON is an acceptance, and what it does not tell is read. Another body is most
 * likely the page of a proxy, so it counts as a lost response.
 * @param commandOf a command for the profile, in backquotes
 */
export async function startOnlineMigration(
  api: Api,
  cluster: string,
  request: MigrationRequest,
  loginHints: LoginHints,
  commandOf: (words: string) => string,
): Promise<StartedMigration> {
  const { password, ...source } = request.source;
  const body = JSON.stringify({
    source: { ...source, ...(password === undefined ? {} : { password: password.reveal() }) },
    ...(request.disableSsl === undefined ? {} : { disable_ssl: request.disableSsl }),
    ...(request.ignoreDbs === undefined ? {} : { ignore_dbs: request.ignoreDbs }),
  });
  const path = `/v2/databases/${cluster}/online-migration`;
  const secrets = password === undefined ? [] : [password];
  const target: Target = { api, path, secrets, commandOf, sentAt: performance.now() };
  let response: ApiResponse;
  try {
    response = await api.request({ method: 'PUT', path, body, secrets });
  } catch (error) {
    if (!wasSent(error)) throw error;
    return adoptMigration(target, error);
  }
  const { status } = response;
  if (status >= 200 && status < 300) {
    const json = parseExactJson(response.text());
    if (response.raw.size > 0 && !json.ok) return adoptMigration(target, notJsonError(response, 'PUT', path, json));
    const told = decodeMigration(response, secrets);
    if (told?.id !== undefined && told.status !== undefined) return { ...unknownMigration, ...told };
    const shown = await readMigration(target);
    return { ...unknownMigration, ...(shown?.isNew ? shown.migration : {}), ...told };
  }
  const failure = toApiError(response, 'PUT', path, loginHints);
  if (status === 409) throw await alreadyRunningError(target, failure, readProblemBody(response).message);
  if (status < 500 && status !== 408 && !isRedirectToResult(status)) throw failure;
  return adoptMigration(target, failure);
}

interface Target {
  readonly api: Api;
  readonly path: string;
  readonly secrets: readonly Secret[];
  readonly commandOf: (words: string) => string;
  /** Before the request, by `performance.now()`. */
  readonly sentAt: number;
}

const unknownMigration: StartedMigration = { id: '', status: 'running', createdAt: '' };

/** Whether the service may have received the request. */
function wasSent(error: unknown): error is CliError {
  return error instanceof CliError && error.cause instanceof SendError && error.cause.sent;
}

interface ShownMigration {
  readonly migration: Partial<StartedMigration>;
  /** It was created after the request was sent, by the clock of the service. */
  readonly isNew: boolean;
}

/** The latest migration of the cluster; undefined when the service shows none. */
async function readMigration({ api, path, secrets, sentAt }: Target): Promise<ShownMigration | undefined> {
  try {
    const response = await api.success({ method: 'GET', path });
    const migration = decodeMigration(response, secrets);
    if (migration === undefined) return undefined;
    const { date = Number.NaN } = response;
    const created = Date.parse(migration.createdAt ?? '');
    // A time in the future is one of another zone, or no time at all, and shows nothing.
    const isNew =
      created >= date - (performance.now() - sentAt) - clockToleranceMs && created <= date + clockToleranceMs;
    return { migration, isNew };
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Members at the top level or in `online_migration`; an id may be a number. */
function decodeMigration(
  response: Pick<ApiResponse, 'text'>,
  secrets: readonly Secret[],
): Partial<StartedMigration> | undefined {
  const json = parseExactJson(response.text());
  if (!json.ok || !isRecord(json.value)) return undefined;
  const { online_migration: inner = json.value } = json.value;
  if (!isRecord(inner)) return undefined;
  const text = (key: string): string | undefined => {
    const value = inner[key];
    if (typeof value !== 'string' && !isExactNumber(value)) return undefined;
    return sanitizeLine(redactSecrets(String(value), secrets), 200);
  };
  const [id, status, createdAt] = [text('id'), text('status'), text('created_at')];
  return {
    ...(id === undefined ? {} : { id }),
    ...(status === undefined ? {} : { status }),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
}

/** The migration that a request without a clear response has started. */
async function adoptMigration(target: Target, cause: CliError): Promise<StartedMigration> {
  const shown = await readMigration(target);
  const { id, status, createdAt } = { ...unknownMigration, ...shown?.migration };
  if (shown?.isNew) return { id, status, createdAt };
  const found =
    shown === undefined
      ? 'the service shows no migration of this cluster'
      : `the service shows a migration with the status ${status}${createdAt === '' ? '' : ` of ${createdAt}`}`;
  throw new MigrationUnknownError(cause.code, 'it is not known whether the migration was started', {
    detail: `${cause.message}; ${found}`,
    hint: `before you start it again, look for it: ${target.commandOf(`api GET ${target.path}`)}`,
    status: cause.status,
    requestId: cause.requestId,
    cause,
  });
}

async function alreadyRunningError(target: Target, failure: CliError, reason: string | undefined): Promise<CliError> {
  const { id, status, createdAt } = { ...unknownMigration, ...(await readMigration(target))?.migration };
  const shown = id === '' ? [] : [`migration ${id}, status ${status}${createdAt === '' ? '' : `, since ${createdAt}`}`];
  const { path, commandOf } = target;
  const facts = [...(reason === undefined ? [] : [reason]), ...shown];
  return new CliError(failure.code, 'the service refused the migration: it conflicts with another one', {
    detail: facts.length === 0 ? undefined : facts.join('; '),
    hint: `see it with ${commandOf(`api GET ${path}`)}; stop it with ${commandOf(`api DELETE ${path}`)}`,
    status: failure.status,
    requestId: failure.requestId,
  });
}
