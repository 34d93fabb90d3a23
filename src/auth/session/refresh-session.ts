import { CliError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { storageError } from '../../base/storage-error.ts';
import type { ProfileReference } from '../../config/settings.ts';
import { deferSignals } from '../../platform/defer-signals.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import { fileErrorCode } from '../../platform/files.ts';
import type { Signals } from '../../platform/host.ts';
import { createRunningTimeTimeoutSignal } from '../../platform/running-time-signal.ts';
import { InsecureFileError } from '../../platform/secret-file.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import {
  type AccountInfo,
  decodeTokenResponse,
  type OAuthClient,
  type RawTokenResponse,
  refreshRequest,
  scopeWords,
  type TokenGrant,
} from '../oauth/index.ts';
import {
  type CredentialRecord,
  computeTokenSecondsLeft,
  decodeCredentialRecord,
  isSameCredentialRecord,
  type SessionServerBinding,
} from './credential-record.ts';
import {
  type CredentialItemWriteResult,
  type CredentialStore,
  credentialStoreUnavailableError,
  describeCredentialStore,
  isCredentialStoreUnavailable,
  type OpenCredentialStore,
} from './credential-store.ts';
import { reachFailpoint } from './failpoints.ts';
import type { PreparedRefreshJournalFile } from './refresh-journal.ts';
import {
  buildCredentialRecordOfResponse,
  buildRecordAfterRefreshRejection,
  buildRenewedCredentialRecord,
  canRefreshReplaceCredentialRecord,
  isTokenRefreshDue,
  type TokenRefreshCause,
} from './renewed-credential-record.ts';
import { revokeTokenGrant } from './revoke-grant.ts';
import type { TokenAcceptance } from './send-access-token-probe.ts';
import {
  isInvalidGrant,
  isSuccessStatus,
  type SendTokenRefreshDeps,
  sendTokenRefresh,
  sessionKeptMessage,
} from './send-token-refresh.ts';
import {
  type FoundStoredSession,
  needsLoginError,
  otherAccountGrantError,
  readStoredSession,
  requireStoredSession,
  sessionNotRenewableError,
  writeCredentialRecord,
} from './stored-session.ts';
import { formatLoginCommand, formatReauthenticateCommand } from './suggested-commands.ts';
import { tokenEndpointError } from './token-endpoint-error.ts';
import type { TokenErrorContext } from './token-error-hints.ts';

export interface SessionRefreshDeps extends SendTokenRefreshDeps {
  readonly profile: ProfileReference;
  readonly binding: SessionServerBinding;
  readonly store: CredentialStore;
  readonly lock: () => Promise<HeldFileLock>;
  /** The OAuth client; it has its client secret only for a server that requires the secret in a refresh. */
  readonly client: () => Promise<OAuthClient>;
  readonly random: (bytes: number) => Uint8Array;
  readonly signals: Signals;
  /** Throws when an environment variable would make Node print or expose the request. */
  readonly requireSafe: () => void;
  /**
   * Checks whether the resource API accepts an access token. The API refuses the old access token as soon as the server
   * has processed a refresh.
   */
  readonly probe: (accessToken: Secret, signal: AbortSignal) => Promise<TokenAcceptance>;
  /** The option of `auth login` that selects the flow of this session. */
  readonly flowOption: (sid: string) => readonly string[];
  readonly warn: (text: string) => Promise<void>;
  /** Stores the account names for display; `info` is undefined if the response contained no account. */
  readonly updateAccount: (record: CredentialRecord, info: AccountInfo | undefined) => void;
}

/** The session after this or another process refreshed it, or unchanged when no refresh was needed. */
export interface SessionRefreshResult {
  readonly record: CredentialRecord;
  /** Whether an earlier refresh still has an unknown result, although the access token has not been refused. */
  readonly inDoubt: boolean;
}

/** Time limit of all refresh requests of a command, in milliseconds; other processes wait longer than this for the lock. */
const totalTimeoutMs = 35_000;

/**
 * Refreshes the session at most once. A refresh invalidates both old tokens at once (docs/service.md S5.8), so two simultaneous refreshes
 * would end the session: the store is read again under the lock of the profile, in case another process has refreshed it. The
 * steps of a refresh and their order are explained in docs/sessions.md.
 */
export async function refreshStoredSession(
  deps: SessionRefreshDeps,
  cause: TokenRefreshCause,
): Promise<SessionRefreshResult> {
  deps.requireSafe();
  reachFailpoint(deps, 'K1-waiting');
  const lock = await deps.lock();
  try {
    reachFailpoint(deps, 'K1-locked');
    return await deps.store.withItems((items) => refreshIfDue(deps, items, cause), lock);
  } finally {
    lock.release();
  }
}

async function refreshIfDue(
  deps: SessionRefreshDeps,
  items: OpenCredentialStore,
  cause: TokenRefreshCause,
): Promise<SessionRefreshResult> {
  const found = await recoverStoredSession(deps, items);
  const { record, inDoubt } = found;
  if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(deps, items, record);
  const deadline = createRunningTimeTimeoutSignal(totalTimeoutMs);
  const isAlive = (): boolean => computeTokenSecondsLeft(record, deps.clock.now()) > 0;
  let refusal = cause;
  if (inDoubt && cause.kind === 'due') {
    const acceptance = await probe(deps, record, deadline);
    if (acceptance === 'accepted' || (acceptance === 'unknown' && isAlive())) return found;
    if (acceptance === 'refused') refusal = { kind: 'refused', token: record.accessToken };
  } else if (!isTokenRefreshDue(record, cause, deps.clock.now())) return found;
  const { refreshToken } = record;
  if (refreshToken === undefined) {
    if (cause.kind === 'forced' && isAlive())
      throw sessionNotRenewableError(deps.profile, record, deps.flowOption(record.sid), deps.clock.now());
    if (cause.kind === 'due' && isAlive()) return found;
    throw await endRefusedSessionWithoutRefreshToken(deps, items, record, cause, deadline);
  }
  const client = await deps.client();
  const errorContext: TokenErrorContext = {
    operation: 'refresh',
    origin: client.authOrigin,
    profile: deps.profile,
    tokenParams: client.tokenParams,
    isSpecServer: record.accountUuid !== undefined,
    loginCommand: formatLoginCommand(deps.profile, record.scope, deps.flowOption(record.sid)),
    consequence: sessionKeptMessage,
  };
  const request = refreshRequest(client, refreshToken);
  const sentAt = Math.floor(deps.clock.now() / 1000);
  const reservation = reserveSpace(deps, record, sentAt);
  reachFailpoint(deps, 'K2-reserved');
  return deferSignals(deps.signals, async () => {
    let isKept = false;
    const persistResponse = (body: string): void => {
      reachFailpoint(deps, 'K7-read');
      isKept = reservation.persistResponse(body);
    };
    const sent = await sendTokenRefresh(deps, request, { errorContext, deadline, inDoubt, persistResponse });
    if (sent.kind === 'failed') {
      endReservation(reservation, sent.inDoubt);
      throw sent.error;
    }
    const context: TokenErrorContext = { ...errorContext, earlierFailure: sent.earlierFailure };
    const refresh = { deps, items, cause: refusal, errorContext: context, found, reservation, sentAt, isKept };
    return processRefreshResponse(refresh, sent.raw);
  });
}

function probe(deps: SessionRefreshDeps, record: CredentialRecord, deadline: AbortSignal): Promise<TokenAcceptance> {
  return deps.probe(record.accessToken, timeoutSignal(10_000, deadline));
}

/**
 * Reads the stored session under the profile's lock and recovers what an interrupted command has left (see the table of
 * docs/sessions.md). Throws when the store cannot be read or the item is missing; the store is then unchanged.
 */
export async function recoverStoredSession(
  deps: Pick<SessionRefreshDeps, 'profile' | 'binding' | 'store' | 'clock' | 'warn' | 'onFailpoint'>,
  items: OpenCredentialStore,
): Promise<FoundStoredSession> {
  const { store } = deps;
  const found = await readUsableSession(deps, items);
  if (found.pending && found.needsRecovery) {
    reachFailpoint(deps, 'R-promoting');
    const written = await writeCredentialUnlessSuperseded(store, items, found.record, found.record);
    if (isCredentialStoreUnavailable(written)) {
      await deps.warn(
        `could not move the refreshed session into the ${describeCredentialStore(store)}: ${credentialStoreUnavailableError(written, deps.profile).message}`,
      );
      return found;
    }
    // Another process has changed the store after it was read, so the stored record is the current one.
    if (written.kind === 'superseded') return readUsableSession(deps, items);
    reachFailpoint(deps, 'R-promoted');
    store.journal.removeCommitted(found.record);
  }
  if (!found.pending || found.needsRecovery) store.journal.removeObsolete(found.record, deps.clock.now());
  return found;
}

async function readUsableSession(
  { store, binding, profile }: Pick<SessionRefreshDeps, 'profile' | 'binding' | 'store'>,
  items: OpenCredentialStore,
): Promise<FoundStoredSession> {
  return requireStoredSession(await readStoredSession(store, items, binding), profile, store.location);
}

/**
 * Writes the record that a refresh of `sent` has created, unless the store has changed since then: the lock excludes other
 * processes only on file systems that share locks. `superseded` means that the store contains a newer grant, another session or
 * no session, and was not changed.
 */
export async function writeCredentialUnlessSuperseded(
  store: CredentialStore,
  items: OpenCredentialStore,
  next: CredentialRecord,
  sent: CredentialRecord,
): Promise<CredentialItemWriteResult | { readonly kind: 'superseded' }> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  const stored = item.kind === 'found' ? decodeCredentialRecord(item.value.reveal()) : undefined;
  if (stored !== undefined && isSameCredentialRecord(stored, next)) return { kind: 'done' };
  return canRefreshReplaceCredentialRecord(stored, sent)
    ? writeCredentialRecord(store, items, next)
    : { kind: 'superseded' };
}

/** Without a refresh token, the session is stored as ended when the API refuses the access token. */
async function endRefusedSessionWithoutRefreshToken(
  deps: SessionRefreshDeps,
  items: OpenCredentialStore,
  record: CredentialRecord,
  cause: TokenRefreshCause,
  deadline: AbortSignal,
): Promise<CliError> {
  const isRefused = cause.kind === 'refused';
  const lack = record.isGivenToken === true ? 'the session cannot be renewed' : 'the session has no refresh token';
  const detail = isRefused ? `the server refused the access token, and ${lack}` : lack;
  if (isRefused && (await probe(deps, record, deadline)) === 'refused')
    await storeEndedSession(deps, items, buildRecordAfterRefreshRejection(record, cause, deps.clock.now()), record);
  return needsLoginError(deps.profile, detail, record, deps.flowOption(record.sid));
}

/** Ensures before the request is sent that the response can be stored. */
function reserveSpace(
  deps: SessionRefreshDeps,
  record: CredentialRecord,
  now: number,
  attempt = 1,
): PreparedRefreshJournalFile {
  try {
    return deps.store.journal.reserve(record, { now, random: deps.random, onFailpoint: deps.onFailpoint });
  } catch (error) {
    // Another process has removed this journal file as obsolete, on a file system that does not share locks.
    if (fileErrorCode(error) === 'ENOENT' && attempt < 10) return reserveSpace(deps, record, now, attempt + 1);
    const message = 'could not refresh the session: no disk space could be reserved for the response';
    const detail = `${error instanceof Error ? error.message : String(error)}; nothing was sent, and the session was kept`;
    if (error instanceof InsecureFileError)
      throw new CliError('keychain_unavailable', message, { detail, hint: error.hint, cause: error });
    throw storageError(message, error, {
      detail,
      elsewhere: 'make the state folder writable for your user, then run the command again',
    });
  }
}

/** A refresh whose response was received. */
interface AnsweredRefresh {
  readonly deps: SessionRefreshDeps;
  readonly items: OpenCredentialStore;
  readonly cause: TokenRefreshCause;
  readonly errorContext: TokenErrorContext;
  readonly found: FoundStoredSession;
  readonly reservation: PreparedRefreshJournalFile;
  readonly sentAt: number;
  /** Whether the journal file contains the token response, so that the new tokens survive a crash. */
  readonly isKept: boolean;
}

/** Processes a complete response to a refresh, until the new record is committed or the session has ended. */
async function processRefreshResponse(refresh: AnsweredRefresh, raw: RawTokenResponse): Promise<SessionRefreshResult> {
  const { deps, items, cause, errorContext, found, reservation, sentAt } = refresh;
  const result = decodeTokenResponse(raw);
  if (result.kind === 'granted') {
    const record = await commit(refresh, buildRenewedCredentialRecord(found.record, result.grant, sentAt));
    await updateAccount(deps, found.record, record, result.grant);
    return { record, inDoubt: false };
  }
  const partial = buildCredentialRecordOfResponse(found.record, result, sentAt);
  if (partial !== undefined) {
    await commit(refresh, partial);
    throw tokenEndpointError(result, { ...errorContext, consequence: newTokenKept });
  }
  // A malformed response with a success status may contain a grant.
  const mayBeProcessed = found.inDoubt || isSuccessStatus(raw);
  if (!isInvalidGrant(result)) {
    // The result of an earlier request is known only from a grant or from the error invalid_grant.
    endReservation(reservation, mayBeProcessed || errorContext.earlierFailure !== undefined);
    throw tokenEndpointError(result, errorContext);
  }
  const newer = await waitForNewerRecord(refresh);
  endReservation(reservation, newer === undefined && mayBeProcessed);
  if (newer !== undefined) return { record: newer, inDoubt: false };
  const ended = buildRecordAfterRefreshRejection(found.record, cause, deps.clock.now());
  await storeEndedSession(deps, items, ended, found.record);
  throw tokenEndpointError(result, buildSessionEndedErrorContext(deps, ended, errorContext));
}

/** Text for the detail of the error of a refresh. */
const newTokenKept = 'the new refresh token of the response was stored, and the next command sends it';

/** Keeps the reserved file for later commands if the server may have processed the refresh. */
function endReservation(reservation: PreparedRefreshJournalFile, mayBeProcessed: boolean): void {
  if (mayBeProcessed) reservation.close();
  else reservation.discard();
}

/**
 * Returns the session record that is now in the store; another process may have stored a newer record. Throws if the new
 * grant could not be stored, or belongs to another account.
 */
async function commit(refresh: AnsweredRefresh, next: CredentialRecord): Promise<CredentialRecord> {
  const record = await storeRecord(refresh, next);
  if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(refresh.deps, refresh.items, record);
  return record;
}

async function storeRecord(
  { deps, items, found, reservation, isKept }: AnsweredRefresh,
  next: CredentialRecord,
): Promise<CredentialRecord> {
  const written = await reservation.commit(() =>
    writeCredentialUnlessSuperseded(deps.store, items, next, found.record),
  );
  reservation.close();
  if (isCredentialStoreUnavailable(written)) {
    const { message, detail, hint } = credentialStoreUnavailableError(written, deps.profile);
    if (isKept && deps.store.kind === 'keychain') {
      const consequence = 'an encrypted copy in the state folder is used by later commands';
      await deps.warn(`could not store the refreshed session in the keychain: ${message}; ${consequence}; ${hint}`);
      return next;
    }
    const consequence = isKept
      ? `the new tokens are kept in ${reservation.path}, and later commands use them`
      : 'the new tokens are lost with this command, and the next command needs a login';
    throw new CliError(
      'keychain_unavailable',
      `could not store the refreshed session in the ${describeCredentialStore(deps.store)}`,
      { detail: `${detail}; ${consequence}`, hint },
    );
  }
  if (written.kind === 'superseded') return (await readUsableSession(deps, items)).record;
  reachFailpoint(deps, 'K10-stored');
  deps.store.journal.removeCommitted(next);
  reachFailpoint(deps, 'K10-cleared');
  return next;
}

/**
 * Revokes a grant of another account or team, with which a refresh was answered; the session stays ended. The caller must have
 * the lock of the profile. @returns the error, which names both accounts
 */
async function endGrantOfOtherAccount(
  deps: SessionRefreshDeps,
  items: OpenCredentialStore,
  record: CredentialRecord,
): Promise<CliError> {
  const { otherGrant, refreshToken: _other, ...rest } = record;
  if (otherGrant === undefined || otherGrant.isRevoked) return otherAccountGrantError(deps, record);
  const isRevoked = await revokeTokenGrant({ client: await deps.client(), createSender: deps.createSender }, record);
  const ended = isRevoked ? { ...rest, otherGrant: { ...otherGrant, isRevoked } } : record;
  const written = await writeCredentialUnlessSuperseded(deps.store, items, ended, record);
  if (written.kind === 'done') deps.store.journal.removeCommitted(ended);
  return otherAccountGrantError(deps, ended);
}

/** Stores the names of the account, and warns about a narrower scope. */
async function updateAccount(
  deps: SessionRefreshDeps,
  before: CredentialRecord,
  record: CredentialRecord,
  grant: TokenGrant,
): Promise<void> {
  const [earlier, granted] = [scopeWords(before.scope), scopeWords(record.scope)];
  if (granted.length < earlier.length && granted.every((word) => earlier.includes(word)))
    await deps.warn(
      `the server reduced the scope of the session from "${earlier.join(' ')}" to "${granted.join(' ')}"`,
    );
  deps.updateAccount(record, grant.info);
}

/** Milliseconds to wait until another process has stored the response that it has received. */
const rivalTimeoutMs = 2_000;

/**
 * Waits for the record of another process that has sent the same refresh token. The other process created a journal file before
 * its request, so it is recognized by that file as long as its record is not stored. @returns the newer record; undefined when
 * there is none
 */
async function waitForNewerRecord({
  deps: { store, binding, clock },
  items,
  found: { record: sent },
  reservation,
}: AnsweredRefresh): Promise<CredentialRecord | undefined> {
  const pauseMs = 50;
  for (let left = rivalTimeoutMs; ; left -= pauseMs) {
    // `hasRival` is called first: another process stores its record before it ends, so if no other process is left, the
    // record that is read next is final.
    const hasRival = reservation.hasRival();
    const stored = await readStoredSession(store, items, binding);
    const isNewer = stored.kind === 'found' && (stored.record.sid !== sent.sid || stored.record.gen > sent.gen);
    if (isNewer) return stored.record;
    if (!hasRival || left <= 0) return undefined;
    await clock.sleep(pauseMs);
  }
}

/** Stores that the session has ended, unless the store has a newer record than the one with the rejected refresh token. */
async function storeEndedSession(
  { store }: SessionRefreshDeps,
  items: OpenCredentialStore,
  ended: CredentialRecord,
  sent: CredentialRecord,
): Promise<void> {
  const written = await writeCredentialUnlessSuperseded(store, items, ended, sent);
  if (written.kind === 'done') store.journal.removeCommitted({ ...ended, gen: ended.gen + 1 });
}

/** Additions to the error that ends a session: the command that logs in to the same account, and a possible reason. */
function buildSessionEndedErrorContext(
  { profile, flowOption }: SessionRefreshDeps,
  ended: CredentialRecord,
  context: TokenErrorContext,
): TokenErrorContext {
  const { consequence: _kept, ...rest } = context;
  const mayMissCredentials = context.tokenParams === 'query' && !context.isSpecServer;
  return {
    ...rest,
    loginCommand: formatReauthenticateCommand(profile, ended, flowOption(ended.sid)),
    ...(mayMissCredentials
      ? { consequence: 'a refresh with token_params query sends no client credentials, which some servers require' }
      : {}),
  };
}
