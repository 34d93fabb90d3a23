import { CliError } from '../errors.ts';
import {
  type OAuthClient,
  processRevocationResponse,
  revokeRequest,
  sendTokenRequest,
} from '../oauth/token-endpoint.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import { type HttpSender, SendError, sendErrorCode } from '../platform/http-sender.ts';
import { type CredentialRecord, decodeRecord } from './credential-record.ts';
import { type CredentialItems, type CredentialStore, requireAvailable } from './credential-store.ts';
import type { TokenAcceptance } from './probe-token.ts';

export interface LogoutDeps {
  readonly store: CredentialStore;
  readonly createSender: () => Promise<HttpSender>;
  readonly lock: () => Promise<HeldLock>;
  /** The application as the server of this record knows it. */
  readonly client: (record: CredentialRecord) => Promise<OAuthClient>;
  readonly requireSafe: () => void;
  readonly removeAccount: () => void;
  /** Asks the resource API of this record whether it still takes the token. */
  readonly probe: (record: CredentialRecord) => Promise<TokenAcceptance>;
}

export type LogoutOutcome =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'local' }
  | { readonly kind: 'revoked' }
  /** Deleted here; what the server was told or thinks of it is in the error. */
  | { readonly kind: 'unproven'; readonly error: CliError };

/**
 * Ends a session: deletes it here first, then revokes it at the server that issued it, whatever the profile points to now,
 * and proves that it is refused (spec.md §4.4).
 */
export async function performLogout(deps: LogoutDeps, local: boolean): Promise<LogoutOutcome> {
  if (!local) deps.requireSafe();
  const lock = await deps.lock();
  let record: CredentialRecord | undefined;
  try {
    const ended = await deps.store.withItems((items) => deleteSession(deps.store, items), lock);
    deps.removeAccount();
    if (ended.kind === 'nothing') return ended;
    record = ended.record;
  } finally {
    lock.release();
  }
  if (local || record === undefined) return { kind: 'local' };
  try {
    return await revoke(deps, record);
  } catch (error) {
    if (!(error instanceof SendError || error instanceof CliError)) throw error;
    return { kind: 'unproven', error: revocationError(record, error) };
  }
}

type DeletedSession =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'ended'; readonly record: CredentialRecord | undefined };

/** The item goes first: with it the key is gone, and nothing that lies beside it can ever be opened again. */
async function deleteSession({ journal, profile }: CredentialStore, items: CredentialItems): Promise<DeletedSession> {
  const item = requireAvailable(await items.read('credential'), profile);
  if (item.kind === 'absent') return { kind: 'nothing' };
  const stored = decodeRecord(item.value.reveal());
  // What is revoked is the newest there is: the tokens of an older record are dead already.
  const newest = stored === undefined ? undefined : journal.inspect(stored).record;
  requireAvailable(await items.remove('credential'), profile);
  if (stored !== undefined) journal.removeSession(stored.sid);
  return { kind: 'ended', record: newest };
}

async function revoke(deps: LogoutDeps, record: CredentialRecord): Promise<LogoutOutcome> {
  const client = await deps.client(record);
  // spec.md §4.4 allows the token itself as bearer; a server of the other kind authenticates the client instead.
  const isOwn = client.tokenParams === 'query';
  const headers = isOwn ? { authorization: `Bearer ${record.accessToken.reveal()}` } : {};
  // Elsewhere the refresh token may outlive the access token that came with it, and is the one that every server has to revoke (RFC 7009 §2).
  const apart = isOwn ? undefined : record.refreshToken;
  const ofRefresh =
    apart && (await revokeToken(deps, revokeRequest(client, apart), 'refresh token', remainingTokens(record)));
  const left = remainingTokens(record, apart === undefined ? undefined : ofRefresh !== undefined);
  const ofAccess = await revokeToken(deps, revokeRequest(client, record.accessToken), 'access token', left, headers);
  const failed = ofRefresh ?? (apart === undefined ? ofAccess : undefined);
  if (failed !== undefined) return { kind: 'unproven', error: failed };
  const fate = await deps.probe(record);
  if (fate === 'refused') return { kind: 'revoked' };
  if (ofAccess !== undefined) return { kind: 'unproven', error: ofAccess };
  const but = fate === 'accepted' ? 'still accepts it' : 'did not say whether it still accepts it';
  const message = `the access token was revoked, but the resource API ${but}`;
  return { kind: 'unproven', error: new CliError('api_error', message, left) };
}

/** Revokes one token; the error when the server does not. */
async function revokeToken(
  deps: LogoutDeps,
  request: ReturnType<typeof revokeRequest>,
  what: string,
  left: ReturnType<typeof remainingTokens>,
  headers: Readonly<Record<string, string>> = {},
): Promise<CliError | undefined> {
  const answer = await sendTokenRequest(await deps.createSender(), request, AbortSignal.timeout(30_000), headers);
  const refusal = processRevocationResponse(answer);
  if (refusal === undefined) return undefined;
  return new CliError('api_error', `could not revoke the ${what}: ${refusal}`, { ...left, status: answer.status });
}

function revocationError(record: CredentialRecord, error: SendError | CliError): CliError {
  if (error instanceof CliError)
    return new CliError(error.code, error.message, { ...remainingTokens(record), cause: error });
  const code = sendErrorCode(error);
  return new CliError(code, `could not revoke the access token: ${error.message}`, remainingTokens(record));
}

/** `refreshToken`: whether it may be alive, too; nobody says how long one lives. */
function remainingTokens(
  record: CredentialRecord,
  refreshToken = record.refreshToken !== undefined,
): { readonly detail: string; readonly hint: string } {
  const end = new Date(record.expiresAt * 1000).toISOString();
  const alive = refreshToken
    ? `its access token lives until ${end}, and its refresh token may live longer, unless they are revoked`
    : `its access token lives until ${end} unless it is revoked`;
  return {
    detail: `the session was deleted here; at ${record.authOrigin} ${alive}`,
    hint: "revoke the application in the control panel's list of applications",
  };
}
