import { CliError } from '../errors.ts';
import {
  buildTokenRefreshRequest,
  buildTokenRevocationRequest,
  type OAuthClient,
  processRevocationResponse,
  processTokenResponse,
  sendTokenRequest,
} from '../oauth/token-endpoint.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import { HttpSendError, type HttpSender } from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import type { Secret } from '../secret.ts';
import { type CredentialRecord, decodeCredentialRecord, isTokenExpiryKnown } from './credential-record.ts';
import {
  type CredentialStore,
  type CredentialStoreItems,
  credentialStoreUnavailableError,
  isCredentialStoreUnavailable,
  type ReplacedSession,
  requireCredentialStoreAvailable,
} from './credential-store.ts';
import { buildCredentialRecordOfResponse } from './renewed-credential-record.ts';
import type { TokenAcceptance } from './send-access-token-probe.ts';
import { findNewestCredentialRecord } from './stored-session.ts';
import { formatCommandForProfile } from './suggested-commands.ts';
import { revokeInPanelHint, tokenEndpointError, tokenRequestWithoutResponseError } from './token-endpoint-error.ts';

export interface LogoutDeps {
  readonly store: CredentialStore;
  readonly createSender: () => Promise<HttpSender>;
  readonly lock: () => Promise<HeldFileLock>;
  /** The application to which this session record was issued. */
  readonly client: (record: CredentialRecord) => Promise<OAuthClient>;
  readonly requireSafe: () => void;
  readonly removeAccount: () => void;
  /** Checks with the resource API of this record whether the access token is still accepted. */
  readonly probe: (record: CredentialRecord) => Promise<TokenAcceptance>;
}

export type LogoutOutcome =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'local' }
  | { readonly kind: 'revoked' }
  /** The session is deleted on this machine; the error explains why the revocation is not proven. */
  | { readonly kind: 'unproven'; readonly error: CliError };

/**
 * Ends a session: deletes it on this machine, revokes it at the server that issued it (even if the profile now names another
 * server), and checks that the token is refused (spec.md §4.4).
 */
export async function performLogout(deps: LogoutDeps, local: boolean): Promise<LogoutOutcome> {
  if (!local) deps.requireSafe();
  const lock = await deps.lock();
  let deleted: DeletedSession;
  try {
    deleted = await deps.store.withItems((items) => deleteSession(deps.store, items), lock);
    deps.removeAccount();
  } finally {
    lock.release();
  }
  if (deleted.kind === 'nothing') return deleted;
  const { session, error } = deleted;
  const outcome = local || session === undefined ? { kind: 'local' as const } : await endGrant(deps, session);
  return error === undefined ? outcome : { kind: 'unproven', error: addRevocationToError(error, outcome) };
}

/** Revokes the tokens of a deleted session. */
async function endGrant(deps: LogoutDeps, session: ReplacedSession): Promise<LogoutOutcome> {
  const { record } = session;
  try {
    if (deps.store.kind !== 'shared') return await revoke(deps, record);
    // Backups of the store may contain the refresh token, which a revocation may leave valid; once used, it is worthless.
    const spent = await spendRefreshToken(deps, session);
    const outcome = await revoke(deps, spent.record);
    return spent.error === undefined ? outcome : { kind: 'unproven', error: spent.error };
  } catch (error) {
    if (!(error instanceof HttpSendError || error instanceof CliError)) throw error;
    return { kind: 'unproven', error: revocationError(record, error) };
  }
}

type DeletedSession =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'ended';
      readonly session: ReplacedSession | undefined;
      /** The error if a shared store may not have stored the logout, or if a signal arrived meanwhile. */
      readonly error?: CliError | undefined;
    };

/** The item is deleted first, because it contains the key without which the journal files of the session cannot be decrypted. */
async function deleteSession(
  { journal, profile }: CredentialStore,
  items: CredentialStoreItems,
): Promise<DeletedSession> {
  const item = requireCredentialStoreAvailable(await items.read('credential'), profile);
  if (item.kind === 'absent') return { kind: 'nothing' };
  // A record in the shared store that cannot be decrypted does not keep a machine from revoking the session that it knows.
  const stored = decodeCredentialRecord(item.value.reveal()) ?? items.shared?.knownRecord();
  // The newest record is revoked, because the tokens of older records are already invalid.
  const newest = stored === undefined ? undefined : findNewestCredentialRecord(journal, stored);
  const removed = await items.remove('credential');
  const known = newest === undefined ? undefined : { record: newest, isRefreshTokenUsed: false };
  if (isCredentialStoreUnavailable(removed) && removed.unconfirmed !== undefined) {
    const { replaced = known } = removed.unconfirmed;
    return { kind: 'ended', session: replaced, error: credentialStoreUnavailableError(removed, profile) };
  }
  const { replaced = known, wasEnded = false, interruptedBy } = requireCredentialStoreAvailable(removed, profile);
  if (stored !== undefined) journal.removeSession(stored.sid);
  if (wasEnded && interruptedBy === undefined) return { kind: 'nothing' };
  const error = interruptedBy && interruptedError(interruptedBy, { detail: 'the session was ended' });
  return { kind: 'ended', session: wasEnded ? undefined : replaced, error };
}

async function revoke(deps: LogoutDeps, record: CredentialRecord): Promise<LogoutOutcome> {
  const client = await deps.client(record);
  // The revocation of spec.md §4.4 sends the token itself as bearer token; other servers authenticate the client.
  const isBearer = client.tokenParams === 'query';
  const headers = isBearer ? { authorization: `Bearer ${record.accessToken.reveal()}` } : {};
  // Other servers may keep the refresh token valid, and RFC 7009 §2 requires only the revocation of refresh tokens.
  const refreshToken = isBearer ? undefined : record.refreshToken;
  const refreshError =
    refreshToken && (await revokeToken(deps, client, record, { operation: 'revokeRefreshToken', token: refreshToken }));
  const isRefreshTokenLeft = refreshToken === undefined ? undefined : refreshError !== undefined;
  const accessError = await revokeToken(deps, client, record, {
    operation: 'revokeAccessToken',
    token: record.accessToken,
    headers,
    isRefreshTokenLeft,
  });
  const error = refreshError ?? (refreshToken === undefined ? accessError : undefined);
  if (error !== undefined) return { kind: 'unproven', error };
  const acceptance = await deps.probe(record);
  if (acceptance === 'refused') return { kind: 'revoked' };
  if (accessError !== undefined) return { kind: 'unproven', error: accessError };
  const detail = remainingTokens(record, isRefreshTokenLeft);
  const message =
    acceptance === 'accepted'
      ? 'the access token was revoked, but the resource API still accepts it'
      : 'the access token was revoked, but it is not known whether the resource API still accepts it';
  return { kind: 'unproven', error: new CliError('api_error', message, { detail, hint: revokeInPanelHint }) };
}

interface SpentSession {
  /** The record with the new tokens, or the old record if the server granted none. */
  readonly record: CredentialRecord;
  /** Present if a refresh token of the session may still be valid. */
  readonly error?: CliError;
}

/** Refreshes the session without storing the grant. */
async function spendRefreshToken(
  deps: LogoutDeps,
  { record, isRefreshTokenUsed }: ReplacedSession,
): Promise<SpentSession> {
  if (record.refreshToken === undefined) return { record };
  const client = await deps.client(record);
  const request = buildTokenRefreshRequest(client, record.refreshToken);
  const response = await sendTokenRequest(await deps.createSender(), request, timeoutSignal(30_000));
  const result = processTokenResponse(response);
  const next = buildCredentialRecordOfResponse(record, result, record.obtainedAt);
  if (next !== undefined || result.kind === 'granted') return { record: next ?? record };
  if (result.kind !== 'refused' || result.error !== 'invalid_grant')
    return {
      record,
      error: grantLeftError(record, 'the refresh that spends the refresh token failed', response.status),
    };
  return isRefreshTokenUsed
    ? { record }
    : { record, error: grantLeftError(record, 'another machine refreshed the session at the same time') };
}

interface Revocation {
  readonly operation: 'revokeAccessToken' | 'revokeRefreshToken';
  readonly token: Secret;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the refresh token may still be valid (default: true if the session has one). */
  readonly isRefreshTokenLeft?: boolean | undefined;
}

/** Revokes one token; returns the error when the server does not revoke it or cannot be reached. */
async function revokeToken(
  deps: LogoutDeps,
  client: OAuthClient,
  record: CredentialRecord,
  { operation, token, headers = {}, isRefreshTokenLeft }: Revocation,
): Promise<CliError | undefined> {
  const request = buildTokenRevocationRequest(client, token);
  const sender = await deps.createSender();
  const response = await sendTokenRequest(sender, request, timeoutSignal(30_000), headers).catch(sendErrorOf);
  const detail = remainingTokens(record, isRefreshTokenLeft);
  if (response instanceof HttpSendError) return tokenRequestWithoutResponseError(response, operation, { detail });
  const failure = processRevocationResponse(response);
  if (failure === undefined) return undefined;
  return tokenEndpointError(failure, {
    operation,
    origin: record.authOrigin,
    profile: deps.store.profile,
    tokenParams: client.tokenParams,
    isSpecServer: record.accountUuid !== undefined,
    loginCommand: formatCommandForProfile(deps.store.profile, 'auth login'),
    consequence: detail,
  });
}

function sendErrorOf(error: unknown): HttpSendError {
  if (error instanceof HttpSendError) return error;
  throw error;
}

function revocationError(record: CredentialRecord, error: HttpSendError | CliError): CliError {
  const detail = remainingTokens(record);
  if (error instanceof HttpSendError) return tokenRequestWithoutResponseError(error, 'revokeAccessToken', { detail });
  return new CliError(error.code, error.message, { detail, hint: revokeInPanelHint, cause: error });
}

/** The error for a session that was ended in the shared store, although a newer grant of it may be valid. */
function grantLeftError(record: CredentialRecord, reason: string, status?: number): CliError {
  return new CliError('api_error', `the session was ended, but its tokens may still be valid: ${reason}`, {
    detail: `the session was deleted in the shared store; at ${record.authOrigin} a refresh token may be valid`,
    hint: revokeInPanelHint,
    status,
  });
}

function addRevocationToError(error: CliError, outcome: LogoutOutcome): CliError {
  const revocation =
    outcome.kind === 'revoked'
      ? 'the access token is revoked'
      : outcome.kind === 'unproven'
        ? outcome.error.message
        : 'its tokens were not revoked';
  return new CliError(error.code, error.message, { ...error, detail: `${error.detail}; ${revocation}` });
}

/**
 * Text for the detail of an error: the tokens that may still be valid at the server. The server does not tell the lifetime of a
 * refresh token.
 */
function remainingTokens(record: CredentialRecord, hasRefreshToken = record.refreshToken !== undefined): string {
  const end = isTokenExpiryKnown(record)
    ? `is valid until ${new Date(record.expiresAt * 1000).toISOString()}`
    : 'may be valid';
  const remaining = hasRefreshToken
    ? `the access token ${end}, and the refresh token may be valid longer`
    : `the access token ${end}`;
  return `the session was deleted on this machine; at ${record.authOrigin} ${remaining}`;
}
