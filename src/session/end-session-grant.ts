import { CliError, type CliErrorCode } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import {
  buildTokenRefreshRequest,
  buildTokenRevocationRequest,
  processRevocationResponse,
  processTokenResponse,
  type RegisteredOAuthClient,
  sendTokenRequest,
} from '../oauth/token-endpoint.ts';
import { getCliNetworkErrorCode, HttpSendError, type HttpSender } from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import { type CredentialRecord, isTokenExpiryKnown } from './credential-record.ts';
import type { CredentialStore, ReplacedSession } from './credential-store.ts';
import { buildCredentialRecordOfResponse } from './renewed-credential-record.ts';
import type { TokenAcceptance } from './send-access-token-probe.ts';
import { formatCommandForProfile } from './suggested-commands.ts';
import { revokeInPanelHint, tokenEndpointError, tokenRequestWithoutResponseError } from './token-endpoint-error.ts';

export interface EndSessionGrantDeps {
  readonly store: CredentialStore;
  readonly createSender: () => Promise<HttpSender>;
  /** The application to which this session record was issued. */
  readonly client: (record: CredentialRecord) => Promise<RegisteredOAuthClient>;
  /** Checks with the resource API of this record whether the access token is still accepted. */
  readonly probe: (record: CredentialRecord) => Promise<TokenAcceptance>;
}

export type SessionGrantEnd =
  | { readonly kind: 'revoked' }
  /** The session is deleted on this machine; the error explains why the revocation is not proven. */
  | { readonly kind: 'unproven'; readonly error: CliError };

/** Revokes the tokens of a session that was deleted on this machine, and checks that the access token is refused. */
export async function endSessionGrant(deps: EndSessionGrantDeps, session: ReplacedSession): Promise<SessionGrantEnd> {
  const { record } = session;
  try {
    if (deps.store.kind !== 'shared') return await revoke(deps, record);
    // Backups of the store may contain the refresh token, which a revocation may leave valid; once used, it is worthless.
    const spent = await spendRefreshToken(deps, session);
    const outcome = await revoke(deps, spent.record);
    if (spent.error === undefined) return outcome;
    if (outcome.kind === 'revoked') return { kind: 'unproven', error: spent.error };
    const detail = `${spent.error.detail}; ${outcome.error.message}`;
    return {
      kind: 'unproven',
      error: new CliError(spent.error.code, spent.error.message, { ...spent.error, detail }),
    };
  } catch (error) {
    if (!(error instanceof HttpSendError || error instanceof CliError)) throw error;
    return { kind: 'unproven', error: revocationError(record, error) };
  }
}

async function revoke(deps: EndSessionGrantDeps, record: CredentialRecord): Promise<SessionGrantEnd> {
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

interface SpentSession {
  /** The record with the new tokens, or the old record if the server granted none. */
  readonly record: CredentialRecord;
  /** Present if a refresh token of the session may still be valid. */
  readonly error?: CliError;
}

/** Refreshes the session without storing the grant. */
async function spendRefreshToken(
  deps: EndSessionGrantDeps,
  { record, isEndedElsewhere }: ReplacedSession,
): Promise<SpentSession> {
  if (record.refreshToken === undefined) return { record };
  const client = await deps.client(record);
  const request = buildTokenRefreshRequest(client, record.refreshToken);
  const response = await sendTokenRequest(await deps.createSender(), request, timeoutSignal(30_000)).catch(sendErrorOf);
  if (response instanceof HttpSendError) {
    const code = getCliNetworkErrorCode(response);
    return { record, error: grantLeftError(record, `${spendingFailed}: ${response.message}`, { code }) };
  }
  const result = processTokenResponse(response);
  const next = buildCredentialRecordOfResponse(record, result, record.obtainedAt);
  if (next !== undefined) return { record: next };
  if (result.kind !== 'refused' || result.error !== 'invalid_grant')
    return { record, error: grantLeftError(record, spendingFailed, { status: response.status }) };
  return isEndedElsewhere
    ? { record }
    : {
        record,
        error: grantLeftError(record, 'the server refused the refresh token, so a machine may have newer tokens'),
      };
}

const spendingFailed = 'the refresh that uses the refresh token failed';

interface Revocation {
  readonly operation: 'revokeAccessToken' | 'revokeRefreshToken';
  readonly token: Secret;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the refresh token may still be valid (default: true if the session has one). */
  readonly isRefreshTokenLeft?: boolean | undefined;
}

/** Revokes one token; returns the error when the server does not revoke it or cannot be reached. */
async function revokeToken(
  deps: EndSessionGrantDeps,
  client: RegisteredOAuthClient,
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

function cliErrorOf(error: unknown): CliError {
  if (error instanceof CliError) return error;
  throw error;
}

function revocationError(record: CredentialRecord, error: HttpSendError | CliError): CliError {
  const detail = remainingTokens(record);
  if (error instanceof HttpSendError) return tokenRequestWithoutResponseError(error, 'revokeAccessToken', { detail });
  return new CliError(error.code, error.message, { detail, hint: revokeInPanelHint, cause: error });
}

/** The error for a session that was ended in the shared store, although a newer grant of it may be valid. */
function grantLeftError(
  record: CredentialRecord,
  reason: string,
  { code = 'api_error', status }: { readonly code?: CliErrorCode; readonly status?: number } = {},
): CliError {
  return new CliError(code, `the session was ended, but its tokens may still be valid: ${reason}`, {
    detail: `the session was deleted in the shared store; at ${record.authOrigin} a refresh token may be valid`,
    hint: revokeInPanelHint,
    status,
  });
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
