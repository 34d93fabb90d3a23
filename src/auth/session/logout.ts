import { rmSync } from 'node:fs';
import { isTokenRefused } from '../../api/api-response.ts';
import { createClient } from '../../api/client.ts';
import { CliError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { forgetNames } from '../../config/known-names.ts';
import { type Binding, commandFor, type ProfileSettings } from '../../config/settings.ts';
import { SendError } from '../../platform/http-sender.ts';
import { tryAcquire } from '../../platform/locks.ts';
import { timeoutSignal } from '../../platform/waiting.ts';
import { type OAuthClient, revokeToken, type TokenGrant } from '../oauth/index.ts';
import { removeAccountFile } from './account.ts';
import { noResponseError, panelHint, tokenError } from './errors.ts';
import { refusedHints } from './hints.ts';
import type { Newest } from './journal.ts';
import { existingKeychainAccount, type ProfilePaths, profilePaths } from './paths.ts';
import { decodeRecord, isExpiryKnown, type SessionRecord } from './record.ts';
import {
  type CommandOfSessions,
  probePath,
  type SessionRun,
  type SessionRuns,
  sendTokens,
  type TokenAcceptance,
  tokenClient,
} from './run.ts';
import {
  isKeychainMissing,
  type OpenStore,
  removeClientSecret,
  removeLeftovers,
  removeProfileFiles,
  requireAvailable,
  unlessFailed,
} from './store.ts';
import { readNewest } from './stored.ts';

/** What a logout uses of the command that is running. */
interface LogoutCommand
  extends Pick<CommandOfSessions, 'host' | 'output' | 'send' | 'lock' | 'requireSafe'>,
    SessionRuns {
  /** Time limit of one request to the resource API, in milliseconds. */
  readonly timeout: number;
}

/** Ends the session of a profile, which may be at other servers than the profile names now. */
export async function endSession(
  command: LogoutCommand,
  settings: ProfileSettings,
  local: boolean,
): Promise<LogoutOutcome> {
  const { host, send, lock, requireSafe, timeout } = command;
  const store = await command.store(settings);
  const client = async (servers: Binding): Promise<OAuthClient> =>
    (await command.sessionRun(settings, servers)).client();
  const run = { host, settings, store, send, requireSafe, client, timeout, lock: () => lock(store.place.lock) };
  return logOut(run, local);
}

/**
 * Ends the session of a profile, and deletes what is stored of the profile in both credential stores, because it may have used
 * the other one before.
 */
export async function eraseSecrets(
  command: LogoutCommand,
  settings: ProfileSettings,
  local: boolean,
): Promise<LogoutOutcome> {
  const paths = profilePaths(command.host.folders.state, settings.profileName);
  const outcome = await eraseFromStore(command, settings, local);
  const other = settings.values.credential_store === 'file' ? 'keychain' : 'file';
  // If no keychain account id is stored, the profile never used the keychain.
  const mayHaveOther = other === 'file' || existingKeychainAccount(paths) !== undefined;
  const left = mayHaveOther ? await eraseFromOtherStore(command, settings, other, local) : undefined;
  const unproven = [outcome, left].find((one) => one?.kind === 'unproven');
  try {
    // With the lock, because another process that has it needs its temporary files.
    const lock = await command.lock(paths.lock);
    try {
      removeProfileFiles(paths);
      removeLockFiles(paths);
    } finally {
      lock.release();
    }
  } catch (error) {
    // That tokens may be valid matters more than a file that could not be removed.
    if (unproven === undefined) throw error;
  }
  if (left?.kind === 'unproven' && outcome.kind !== 'unproven') return left;
  return outcome.kind === 'nothing' && left !== undefined ? left : outcome;
}

/**
 * Deletes the lock files of a profile, as the last action with its lock. A process that waits for a deleted lock file notices that
 * its path has another file or none, and locks that one. The file of a login in progress stays, because another login would
 * otherwise not notice it.
 */
function removeLockFiles({ lock, loginLock }: ProfilePaths): void {
  unlessFailed(() => {
    const login = tryAcquire(loginLock);
    if (login === undefined) return;
    rmSync(loginLock, { force: true });
    login.release();
  });
  unlessFailed(() => rmSync(lock, { force: true }));
}

async function eraseFromStore(
  command: LogoutCommand,
  settings: ProfileSettings,
  local: boolean,
): Promise<LogoutOutcome> {
  const outcome = await endSession(command, settings, local);
  const store = await command.store(settings);
  const lock = await command.lock(store.place.lock);
  try {
    await removeClientSecret(store, lock);
  } finally {
    lock.release();
  }
  return outcome;
}

/** The credential store that the profile does not use may be unavailable. */
async function eraseFromOtherStore(
  command: LogoutCommand,
  settings: ProfileSettings,
  credential_store: 'keychain' | 'file',
  local: boolean,
): Promise<LogoutOutcome | undefined> {
  try {
    return await eraseFromStore(command, { ...settings, values: { ...settings.values, credential_store } }, local);
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'keychain_unavailable')) throw error;
    if (isKeychainMissing(error)) return undefined;
    await command.output.warn(
      `an earlier session or client secret may be left in the ${credential_store}: ${error.message}`,
    );
    return undefined;
  }
}

/** The session to end, which may be at other servers than the profile names now. */
export interface LogoutRun extends Pick<SessionRun, 'host' | 'settings' | 'store' | 'lock' | 'send' | 'requireSafe'> {
  /** The application at the servers that issued the session. */
  readonly client: (servers: Binding) => Promise<OAuthClient>;
  readonly timeout: number;
}

export type LogoutOutcome =
  | { readonly kind: 'nothing' }
  /** The session was deleted without being revoked: `--local`, or a record that cannot be read. */
  | { readonly kind: 'local' }
  | RevocationOutcome;

type RevocationOutcome =
  | { readonly kind: 'revoked' }
  /** The session is deleted on this machine; the error explains why the revocation is not proven. */
  | { readonly kind: 'unproven'; readonly error: CliError };

/**
 * Ends a session: deletes it on this machine, revokes it at the server that issued it (even if the profile now names another
 * server), and checks that the token is refused (docs/service.md S6.2).
 */
export async function logOut(run: LogoutRun, local: boolean, probe: Probe = probeAcceptance): Promise<LogoutOutcome> {
  if (!local) run.requireSafe();
  const lock = await run.lock();
  let deleted: 'nothing' | 'damaged' | Newest<SessionRecord>;
  try {
    deleted = await run.store.withItems((items) => deleteSession(run, items), lock);
    removeAccount(run);
  } finally {
    lock.release();
  }
  if (deleted === 'nothing') return { kind: 'nothing' };
  return local || deleted === 'damaged' ? { kind: 'local' } : revokeDeleted(run, deleted, probe);
}

/** The item is deleted first, because it contains the key without which the journal files of the session cannot be decrypted. */
async function deleteSession(
  { store, host }: LogoutRun,
  items: OpenStore,
): Promise<'nothing' | 'damaged' | Newest<SessionRecord>> {
  const item = requireAvailable(await items.read('credential'), store.profile);
  if (item.kind === 'absent') return 'nothing';
  const stored = decodeRecord(item.value);
  // The newest record is revoked, because the tokens of older records are already invalid.
  const newest = stored === undefined ? undefined : await readNewest(store, stored);
  requireAvailable(await items.remove('credential'), store.profile);
  if (stored !== undefined)
    await store
      .journal(stored.sid)
      .remove()
      .catch(() => undefined);
  removeLeftovers(store, stored?.sid ?? '', host.clock.now());
  return newest ?? 'damaged';
}

/** Both files are for display only, so that one that cannot be removed must not keep the tokens from being revoked. */
function removeAccount({ host, settings }: LogoutRun): void {
  unlessFailed(() => forgetNames(host.folders.state, settings.profileName));
  unlessFailed(() => removeAccountFile(host.folders.config, settings.profileName));
}

/** Revokes the tokens of a session that was deleted on this machine, and checks that the access token is refused. */
async function revokeDeleted(
  run: LogoutRun,
  { record, inDoubt }: Newest<SessionRecord>,
  probe: Probe,
): Promise<RevocationOutcome> {
  try {
    // A refresh without a response may have issued tokens that only the server knows.
    const mayHaveOthers = inDoubt && (await probe(run, record).catch(cliErrorOf)) !== 'accepted';
    const outcome = await revoke(run, record, probe);
    if (!mayHaveOthers || outcome.kind === 'unproven') return outcome;
    const detail = `the session was deleted on this machine; the response to its last refresh at ${record.authOrigin} never arrived`;
    const parts = { detail, hint: panelHint(record.authOrigin) };
    return { kind: 'unproven', error: new CliError('api_error', 'the server may have issued other tokens', parts) };
  } catch (error) {
    const { code, message } = cliErrorOf(error);
    const parts = { detail: remainingTokens(record), hint: panelHint(record.authOrigin), cause: error };
    return { kind: 'unproven', error: new CliError(code, message, parts) };
  }
}

async function revoke(run: LogoutRun, record: SessionRecord, probe: Probe): Promise<RevocationOutcome> {
  const client = await tokenClient(run, record);
  // Other servers may keep the refresh token valid, and RFC 7009 §2 requires only the revocation of refresh tokens.
  const refreshToken = client.tokenParams === 'query' ? undefined : record.refreshToken;
  const refreshError =
    refreshToken && (await revokeOne(run, client, record, { operation: 'revokeRefreshToken', token: refreshToken }));
  const isRefreshTokenLeft = refreshToken === undefined ? undefined : refreshError !== undefined;
  const accessError = await revokeOne(run, client, record, {
    operation: 'revokeAccessToken',
    token: record.accessToken,
    isRefreshTokenLeft,
  });
  const error = refreshError ?? (refreshToken === undefined ? accessError : undefined);
  if (error !== undefined) return { kind: 'unproven', error };
  const acceptance = await probe(run, record).catch(cliErrorOf);
  if (acceptance === 'refused') return { kind: 'revoked' };
  if (accessError !== undefined) return { kind: 'unproven', error: accessError };
  const detail = remainingTokens(record, isRefreshTokenLeft);
  const [code, cause] = acceptance instanceof CliError ? [acceptance.code, acceptance] : ['api_error' as const];
  const message =
    acceptance === 'accepted'
      ? 'the access token was revoked, but the resource API still accepts it'
      : 'the access token was revoked, but it is not known whether the resource API still accepts it';
  return {
    kind: 'unproven',
    error: new CliError(code, message, { detail, hint: panelHint(record.authOrigin), cause }),
  };
}

interface TokenRevocation {
  readonly operation: 'revokeAccessToken' | 'revokeRefreshToken';
  readonly token: Secret;
  /** Whether the refresh token may still be valid (default: true if the session has one). */
  readonly isRefreshTokenLeft?: boolean | undefined;
}

/** Revokes one token; returns the error when the server does not revoke it or cannot be reached. */
async function revokeOne(
  run: LogoutRun,
  client: OAuthClient,
  record: SessionRecord,
  { operation, token, isRefreshTokenLeft }: TokenRevocation,
): Promise<CliError | undefined> {
  const sender = await run.send({ fresh: true });
  const failure = await revokeToken(sender, client, token, timeoutSignal(30_000)).catch(sendErrorOf);
  const detail = remainingTokens(record, isRefreshTokenLeft);
  if (failure instanceof SendError) return noResponseError(failure, operation, { detail, origin: record.authOrigin });
  if (failure === undefined) return undefined;
  return tokenError(failure, {
    operation,
    origin: record.authOrigin,
    profile: run.store.profile,
    tokenParams: client.tokenParams,
    isSpecServer: record.accountUuid !== undefined,
    loginCommand: commandFor(run.store.profile, 'auth login'),
    consequence: detail,
  });
}

/** Checks with the resource API of this record whether the access token is still accepted. */
type Probe = (run: LogoutRun, record: SessionRecord) => Promise<TokenAcceptance>;

async function probeAcceptance(
  { host, settings, send, timeout }: LogoutRun,
  { baseOrigin, accessToken }: SessionRecord,
): Promise<TokenAcceptance> {
  const api = createClient({
    baseOrigin,
    send: await send(),
    bearer: async () => accessToken,
    renew: async () => Promise.reject(new CliError('token_refused', 'refused')),
    clock: host.clock,
    timeout,
    loginHints: refusedHints(settings, host.folders.config),
  });
  try {
    const answer = await api.request({ method: 'GET', path: probePath });
    if (answer.status >= 200 && answer.status < 300) return 'accepted';
    // Some servers respond to a revoked token with 403. Every scope may read this path, so 403 means that the token is refused.
    return answer.status === 403 || isTokenRefused(answer, probePath) ? 'refused' : 'unknown';
  } catch (error) {
    if (error instanceof CliError && error.code === 'token_refused') return 'refused';
    throw error;
  }
}

function sendErrorOf(error: unknown): SendError {
  if (error instanceof SendError) return error;
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
function remainingTokens(record: SessionRecord, hasRefreshToken = record.refreshToken !== undefined): string {
  const end = isExpiryKnown(record)
    ? `is valid until ${new Date(record.expiresAt * 1000).toISOString()}`
    : 'may be valid';
  const remaining = hasRefreshToken
    ? `the access token ${end}, and the refresh token may be valid longer`
    : `the access token ${end}`;
  return `the session was deleted on this machine; at ${record.authOrigin} ${remaining}`;
}

/** How tokens are revoked. */
export interface Revocation {
  readonly client: OAuthClient;
  readonly send: SessionRun['send'];
}

/** Revokes a grant that was not stored, then throws `error` with a detail that reports whether the revocation succeeded. */
export async function revokeAndThrow(how: Revocation, grant: TokenGrant, error: unknown): Promise<never> {
  const isRevoked = await revokeGrant(how, grant);
  if (!(error instanceof CliError)) throw error;
  const outcome = isRevoked
    ? 'the grant was revoked and nothing was stored'
    : 'nothing was stored, but the grant could not be revoked; revoke the application in the control panel';
  const detail = error.detail === undefined ? outcome : `${error.detail}; ${outcome}`;
  throw new CliError(error.code, error.message, { ...error, detail, cause: error });
}

/**
 * Revokes the tokens of a grant within 5 s (https://www.rfc-editor.org/rfc/rfc7009); resolves with false when the revocation
 * failed.
 */
export async function revokeGrant(
  how: Revocation,
  { accessToken, refreshToken }: Pick<TokenGrant, 'accessToken' | 'refreshToken'>,
): Promise<boolean> {
  // In query form the refresh token is revoked with its access token (docs/service.md S6.3). At other servers it may remain valid
  // (RFC 7009 §2.1).
  const isSpecForm = how.client.tokenParams === 'query';
  const tokens = isSpecForm || refreshToken === undefined ? [accessToken] : [refreshToken, accessToken];
  const signal = timeoutSignal(5_000);
  try {
    let isRevoked = true;
    for (const token of tokens) {
      const failure = await revokeToken(await sendTokens(how), how.client, token, signal);
      isRevoked &&= failure === undefined;
    }
    return isRevoked;
  } catch (error) {
    if (error instanceof SendError) return false;
    throw error;
  }
}

/**
 * Revokes the session that a login replaced. The replaced session is revoked only at a server that follows docs/service.md, because
 * at other servers a revocation may end all grants of the application (RFC 7009 §2.1), including the new one. A failed
 * revocation is ignored, because the tokens of the replaced session are no longer stored. A token from `auth login
 * --with-token` is not revoked, because the program did not obtain it; nor is a session revoked whose access token is the same
 * as the new one.
 */
export async function revokeReplaced(
  how: Revocation & { readonly isSpecServer: () => boolean },
  { record, replaced }: { readonly record: SessionRecord; readonly replaced: SessionRecord | undefined },
): Promise<void> {
  if (replaced === undefined || how.client.tokenParams !== 'query' || !how.isSpecServer()) return;
  if (replaced.isGivenToken === true || replaced.accessToken.equals(record.accessToken)) return;
  await revokeGrant(how, replaced);
}
