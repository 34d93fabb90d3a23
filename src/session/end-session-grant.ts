import { CliError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import {
  buildTokenRevocationRequest,
  processRevocationResponse,
  type RegisteredOAuthClient,
  sendTokenRequest,
} from '../oauth/token-endpoint.ts';
import { HttpSendError, type HttpSender } from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import { type CredentialRecord, isTokenExpiryKnown } from './credential-record.ts';
import type { CredentialStore } from './credential-store.ts';
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
export async function endSessionGrant(deps: EndSessionGrantDeps, record: CredentialRecord): Promise<SessionGrantEnd> {
  try {
    return await revoke(deps, record);
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
