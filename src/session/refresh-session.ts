import { CliError } from '../errors.ts';
import { type OAuthClient, processTokenResponse, refreshRequest, type TokenResponse } from '../oauth/token-endpoint.ts';
import { deferSignals } from '../platform/defer-signals.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { Signals } from '../platform/host.ts';
import { timeoutWhileRunning } from '../platform/timeout-while-running.ts';
import type { Secret } from '../secret.ts';
import { type CredentialRecord, secondsUntilExpiry } from './credential-record.ts';
import { type CredentialItems, isUnavailable, storeUnavailableError } from './credential-store.ts';
import { reachFailpoint } from './failpoints.ts';
import type { TokenAcceptance } from './probe-token.ts';
import { type RecoveryDeps, recoverSession } from './recover-session.ts';
import type { JournalReservation } from './refresh-journal.ts';
import { isRefreshDue, type RefreshCause, renewedRecord, withoutRefreshToken } from './renewed-record.ts';
import { isSuccessStatus, type SendRefreshDeps, sendRefresh, sessionKept } from './send-refresh.ts';
import {
  type FoundSession,
  loginCommand,
  needsLoginError,
  reauthenticateCommand,
  writeCredentialRecord,
} from './stored-session.ts';
import { type TokenErrorContext, tokenError } from './token-errors.ts';

export interface RefreshDeps extends RecoveryDeps, SendRefreshDeps {
  /** Carries the client secret only where the server wants it at refresh. */
  readonly client: () => Promise<OAuthClient>;
  readonly lock: () => Promise<HeldLock>;
  readonly random: (bytes: number) => Uint8Array;
  /** The words that make a login take the flow of this session again. */
  readonly flowOption: (sid: string) => readonly string[];
  readonly signals: Signals;
  /** Throws when the environment would print or expose the request. */
  readonly requireSafe: () => void;
  /** Asks the resource API whether it still takes an access token, which is so only as long as no refresh was processed. */
  readonly probe: (accessToken: Secret, signal: AbortSignal) => Promise<TokenAcceptance>;
}

/** The session after a refresh that was due, was done by somebody else, or could wait. */
export interface RefreshResult {
  readonly record: CredentialRecord;
  /** A refresh is in doubt still; the access token is not, as far as the resource API could be asked. */
  readonly inDoubt: boolean;
}

/** Milliseconds all requests of one command may take; a waiter on the lock waits longer. */
const totalTimeoutMs = 35_000;

/**
 * Renews the session at most once (spec.md §3: a refresh kills both old tokens at once, so two at a time lose the session).
 * Under the profile's lock the store is read again; whoever came first did the work for all. The steps, and why they stand
 * in this order, are in docs/sessions.md.
 */
export async function refreshSession(deps: RefreshDeps, cause: RefreshCause): Promise<RefreshResult> {
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

async function refreshIfDue(deps: RefreshDeps, items: CredentialItems, cause: RefreshCause): Promise<RefreshResult> {
  const found = await recoverSession(deps, items);
  const { record } = found;
  const deadline = timeoutWhileRunning(totalTimeoutMs);
  if (found.inDoubt && cause.kind === 'due') {
    const fate = await probeAccessToken(deps, record, deadline);
    const isAlive = secondsUntilExpiry(record, deps.clock.now()) > 0;
    if (fate === 'accepted' || (fate === 'unknown' && isAlive)) return found;
  } else if (!isRefreshDue(record, cause, deps.clock.now())) return found;
  const { refreshToken } = record;
  if (refreshToken === undefined) {
    if (cause.kind === 'due' && secondsUntilExpiry(record, deps.clock.now()) > 0) return found;
    throw await missingRefreshTokenError(deps, items, record, cause, deadline);
  }
  const client = await deps.client();
  const { authOrigin: origin, tokenParams } = client;
  const errorContext: TokenErrorContext = {
    operation: 'refresh',
    origin,
    profile: deps.profile,
    tokenParams,
    isSpecServer: record.accountUuid !== undefined,
    loginCommand: loginCommand(deps.profile, record.scope, deps.flowOption(record.sid)),
    consequence: sessionKept,
  };
  const request = refreshRequest(client, refreshToken);
  const sentAt = Math.floor(deps.clock.now() / 1000);
  const room = reserveSpace(deps, record, sentAt);
  reachFailpoint(deps, 'K2-reserved');
  return deferSignals(deps.signals, async () => {
    let isKept = false;
    const persistResponse = (body: string): void => {
      reachFailpoint(deps, 'K7-read');
      isKept = room.persistResponse(body);
    };
    const sent = await sendRefresh(deps, request, { errorContext, deadline, inDoubt: found.inDoubt, persistResponse });
    if (sent.kind === 'failed') {
      if (sent.inDoubt) room.close();
      else room.discard();
      throw sent.error;
    }
    return processRefreshResponse({ deps, items, cause, errorContext, found, room, sentAt, isKept }, sent.raw);
  });
}

/** Proves before anything is sent that the answer will have a place. */
function reserveSpace(deps: RefreshDeps, record: CredentialRecord, now: number): JournalReservation {
  try {
    return deps.store.journal.reserve(record, { now, random: deps.random, onFailpoint: deps.onFailpoint });
  } catch (error) {
    throw new CliError('keychain_unavailable', 'could not refresh the session: there is no safe place for the answer', {
      detail: `${error instanceof Error ? error.message : String(error)}; nothing was sent, and the session was kept`,
      hint: 'make the state folder writable for you, with some room on its disk, and run the command again',
      cause: error,
    });
  }
}

interface RefreshInProgress {
  readonly deps: RefreshDeps;
  readonly items: CredentialItems;
  readonly cause: RefreshCause;
  readonly errorContext: TokenErrorContext;
  readonly found: FoundSession;
  readonly room: JournalReservation;
  readonly sentAt: number;
  /** The answer is on the disk. */
  readonly isKept: boolean;
}

/** From a whole answer to the commit, or to the end of the session. */
async function processRefreshResponse(ongoing: RefreshInProgress, raw: TokenResponse): Promise<RefreshResult> {
  const { deps, items, cause, errorContext, found, room } = ongoing;
  const result = processTokenResponse(raw);
  if (result.kind === 'granted') {
    return {
      record: await commitRefresh(ongoing, renewedRecord(found.record, result.grant, ongoing.sentAt)),
      inDoubt: false,
    };
  }
  // A success that is not understood may have been a grant, and an earlier doubt is only ended by a terminal answer.
  if (found.inDoubt || isSuccessStatus(raw)) room.close();
  else room.discard();
  if (result.kind !== 'refused' || result.error !== 'invalid_grant') throw tokenError(result, errorContext);
  const ended = withoutRefreshToken(found.record, cause, deps.clock.now());
  await storeEndedSession(deps, items, ended);
  throw tokenError(result, sessionEndedContext(deps, ended, errorContext));
}

async function storeEndedSession(
  { store }: RefreshDeps,
  items: CredentialItems,
  ended: CredentialRecord,
): Promise<void> {
  const written = await writeCredentialRecord(store, items, ended);
  if (!isUnavailable(written)) store.journal.removeCommitted({ ...ended, gen: ended.gen + 1 });
}

/** For the error that ends a session: the command that logs in to the same account, and a possible reason. */
function sessionEndedContext(
  { profile, flowOption }: RefreshDeps,
  ended: CredentialRecord,
  context: TokenErrorContext,
): TokenErrorContext {
  const { consequence: _kept, ...rest } = context;
  const mayMissCredentials = context.tokenParams === 'query' && !context.isSpecServer;
  return {
    ...rest,
    loginCommand: reauthenticateCommand(profile, ended, flowOption(ended.sid)),
    ...(mayMissCredentials
      ? { consequence: 'token_params query sends no client credentials with it, and some servers require them' }
      : {}),
  };
}

/** A session that cannot be renewed. It has ended when its access token is refused a second time as well: then `auth status` says so. */
async function missingRefreshTokenError(
  deps: RefreshDeps,
  items: CredentialItems,
  record: CredentialRecord,
  cause: RefreshCause,
  deadline: AbortSignal,
): Promise<CliError> {
  const isRefused = cause.kind === 'refused';
  const detail = isRefused
    ? 'the server refused its access token and it has no refresh token'
    : 'it has no refresh token';
  if (isRefused && (await probeAccessToken(deps, record, deadline)) === 'refused')
    await storeEndedSession(deps, items, withoutRefreshToken(record, cause, deps.clock.now()));
  return needsLoginError(deps.profile, detail, record, deps.flowOption(record.sid));
}

function probeAccessToken(
  deps: RefreshDeps,
  record: CredentialRecord,
  deadline: AbortSignal,
): Promise<TokenAcceptance> {
  return deps.probe(record.accessToken, AbortSignal.any([deadline, AbortSignal.timeout(10_000)]));
}

async function commitRefresh(ongoing: RefreshInProgress, next: CredentialRecord): Promise<CredentialRecord> {
  const { deps, items, room, isKept } = ongoing;
  const written = await room.commit(next, () => writeCredentialRecord(deps.store, items, next));
  room.close();
  if (isUnavailable(written)) {
    const { message, hint } = storeUnavailableError(written, deps.profile);
    const fate = isKept
      ? 'it is kept sealed in the state folder, from where later commands go on'
      : 'it ends with this command';
    await deps.warn(`the renewed session is not in the ${deps.store.kind}, ${fate}: ${message}; ${hint}`);
    return next;
  }
  reachFailpoint(deps, 'K10-stored');
  deps.store.journal.removeCommitted(next);
  reachFailpoint(deps, 'K10-cleared');
  return next;
}
