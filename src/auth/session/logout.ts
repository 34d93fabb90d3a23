import { CliError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import { HttpSendError, type HttpSender } from '../../platform/http-sender.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import { decodeRevocation, type OAuthClient, revokeRequest, sendTokenRequest } from '../oauth/index.ts';
import { type CredentialRecord, decodeCredentialRecord, isTokenExpiryKnown } from './credential-record.ts';
import { type CredentialStore, type OpenCredentialStore, requireCredentialStoreAvailable } from './credential-store.ts';
import type { TokenAcceptance } from './send-access-token-probe.ts';
import { readJournaledOrStoredCredentialRecord } from './stored-session.ts';
import { formatCommandForProfile } from './suggested-commands.ts';
import { revokeInPanelHint, tokenEndpointError, tokenRequestWithoutResponseError } from './token-endpoint-error.ts';

export interface LogoutDeps {
  readonly store: CredentialStore;
  readonly lock: () => Promise<HeldFileLock>;
  readonly createSender: () => Promise<HttpSender>;
  /** The application to which this session record was issued. */
  readonly client: (record: CredentialRecord) => Promise<OAuthClient>;
  /** Checks with the resource API of this record whether the access token is still accepted. */
  readonly probe: (record: CredentialRecord) => Promise<TokenAcceptance>;
  readonly requireSafe: () => void;
  readonly removeAccount: () => void;
}

export type LogoutOutcome =
  | { readonly kind: 'nothing' }
  /** The session was deleted without being revoked: `--local`, or a record that cannot be read. */
  | { readonly kind: 'local' }
  | Revocation;

type Revocation =
  | { readonly kind: 'revoked' }
  /** The session is deleted on this machine; the error explains why the revocation is not proven. */
  | { readonly kind: 'unproven'; readonly error: CliError };

/**
 * Ends a session: deletes it on this machine, revokes it at the server that issued it (even if the profile now names another
 * server), and checks that the token is refused (docs/service.md S6.2).
 */
export async function performLogout(deps: LogoutDeps, local: boolean): Promise<LogoutOutcome> {
  if (!local) deps.requireSafe();
  const lock = await deps.lock();
  let deleted: 'nothing' | 'damaged' | CredentialRecord;
  try {
    deleted = await deps.store.withItems((items) => deleteSession(deps.store, items), lock);
    deps.removeAccount();
  } finally {
    lock.release();
  }
  if (deleted === 'nothing') return { kind: 'nothing' };
  return local || deleted === 'damaged' ? { kind: 'local' } : revokeDeleted(deps, deleted);
}

/** The item is deleted first, because it contains the key without which the journal files of the session cannot be decrypted. */
async function deleteSession(
  { journal, profile }: CredentialStore,
  items: OpenCredentialStore,
): Promise<'nothing' | 'damaged' | CredentialRecord> {
  const item = requireCredentialStoreAvailable(await items.read('credential'), profile);
  if (item.kind === 'absent') return 'nothing';
  const stored = decodeCredentialRecord(item.value.reveal());
  // The newest record is revoked, because the tokens of older records are already invalid.
  const newest = stored === undefined ? undefined : readJournaledOrStoredCredentialRecord(journal, stored);
  requireCredentialStoreAvailable(await items.remove('credential'), profile);
  if (stored !== undefined) journal.removeSession(stored.sid);
  return newest ?? 'damaged';
}

/** Revokes the tokens of a session that was deleted on this machine, and checks that the access token is refused. */
async function revokeDeleted(deps: LogoutDeps, record: CredentialRecord): Promise<Revocation> {
  try {
    return await revoke(deps, record);
  } catch (error) {
    const { code, message } = cliErrorOf(error);
    const parts = { detail: remainingTokens(record), hint: revokeInPanelHint, cause: error };
    return { kind: 'unproven', error: new CliError(code, message, parts) };
  }
}

async function revoke(deps: LogoutDeps, record: CredentialRecord): Promise<Revocation> {
  const client = await deps.client(record);
  // The revocation of docs/service.md S6.3 sends the token itself as bearer token; other servers authenticate the client.
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
  const acceptance = await deps.probe(record).catch(cliErrorOf);
  if (acceptance === 'refused') return { kind: 'revoked' };
  if (accessError !== undefined) return { kind: 'unproven', error: accessError };
  const detail = remainingTokens(record, isRefreshTokenLeft);
  const [code, cause] = acceptance instanceof CliError ? [acceptance.code, acceptance] : ['api_error' as const];
  const message =
    acceptance === 'accepted'
      ? 'the access token was revoked, but the resource API still accepts it'
      : 'the access token was revoked, but it is not known whether the resource API still accepts it';
  return { kind: 'unproven', error: new CliError(code, message, { detail, hint: revokeInPanelHint, cause }) };
}

interface TokenRevocation {
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
  { operation, token, headers = {}, isRefreshTokenLeft }: TokenRevocation,
): Promise<CliError | undefined> {
  const request = revokeRequest(client, token);
  const sender = await deps.createSender();
  const response = await sendTokenRequest(sender, request, timeoutSignal(30_000), headers).catch(sendErrorOf);
  const detail = remainingTokens(record, isRefreshTokenLeft);
  if (response instanceof HttpSendError) return tokenRequestWithoutResponseError(response, operation, { detail });
  const failure = decodeRevocation(response);
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

function cliErrorOf(error: unknown): CliError {
  if (error instanceof CliError) return error;
  throw error;
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
