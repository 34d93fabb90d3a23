import { CliError } from '../errors.ts';
import { type Client, processTokenAnswer, type RawAnswer, refreshRequest } from '../oauth/token-endpoint.ts';
import type { Signals } from '../platform/host.ts';
import type { HeldLock } from '../platform/lock.ts';
import { runningTimeout } from '../platform/running-time.ts';
import type { Secret } from '../secret.ts';
import { type AskedServer, type AttemptDeps, attempts, isSuccess, notGranted } from './attempts.ts';
import { credentialsElsewhere } from './command-for.ts';
import { type Found, loginCommand, needsLogin, writeRecord } from './current.ts';
import { deferSignals } from './defer-signals.ts';
import type { Room } from './journal.ts';
import { pass } from './points.ts';
import type { Acceptance } from './probe.ts';
import { type CredentialRecord, secondsLeft } from './record.ts';
import { type RecoverDeps, recover } from './recover.ts';
import { isDue, type RefreshCause, renewed, withoutRefresh } from './renew.ts';
import { type Items, isUnavailable, keychainError } from './store.ts';

export interface RefreshDeps extends RecoverDeps, AttemptDeps {
  /** Carries the client secret only where the server wants it at refresh. */
  readonly client: () => Promise<Client>;
  readonly lock: () => Promise<HeldLock>;
  readonly random: (bytes: number) => Uint8Array;
  /** The words that make a login take the flow of this session again. */
  readonly flowAgain: (sid: string) => readonly string[];
  readonly signals: Signals;
  /** Throws when the environment would print or expose the request. */
  readonly requireSafe: () => void;
  /** Asks the resource API whether it still takes an access token, which is so only as long as no refresh was processed. */
  readonly probe: (accessToken: Secret, signal: AbortSignal) => Promise<Acceptance>;
}

/** The session after a refresh that was due, was done by somebody else, or could wait. */
export interface Renewal {
  readonly record: CredentialRecord;
  /** A refresh is in doubt still; the access token is not, as far as the resource API could be asked. */
  readonly inDoubt: boolean;
}

/** Milliseconds all requests of one command may take; a waiter on the lock waits longer. */
const budget = 35_000;

/**
 * Renews the session at most once (spec.md §3: a refresh kills both old tokens at once, so two at a time lose the session).
 * Under the profile's lock the store is read again; whoever came first did the work for all. The steps, and why they stand
 * in this order, are in docs/sessions.md.
 */
export async function refreshSession(deps: RefreshDeps, cause: RefreshCause): Promise<Renewal> {
  deps.requireSafe();
  pass(deps, 'K1-waiting');
  const lock = await deps.lock();
  try {
    pass(deps, 'K1-locked');
    return await deps.store.visit((items) => renewIfDue(deps, items, cause), lock);
  } finally {
    lock.release();
  }
}

async function renewIfDue(deps: RefreshDeps, items: Items, cause: RefreshCause): Promise<Renewal> {
  const found = await recover(deps, items);
  const { record } = found;
  const deadline = runningTimeout(budget);
  if (found.inDoubt && cause.kind === 'due') {
    const fate = await probeSoon(deps, record, deadline);
    const isAlive = secondsLeft(record, deps.clock.now()) > 0;
    if (fate === 'accepted' || (fate === 'unknown' && isAlive)) return found;
  } else if (!isDue(record, cause, deps.clock.now())) return found;
  const { refreshToken } = record;
  if (refreshToken === undefined) {
    if (cause.kind === 'due' && secondsLeft(record, deps.clock.now()) > 0) return found;
    throw await withoutWay(deps, items, record, cause, deadline);
  }
  const client = await deps.client();
  const { authOrigin: origin, tokenParams } = client;
  const isOfSpec = record.accountUuid !== undefined;
  const login = loginCommand(deps.profile, record.scope, deps.flowAgain(record.sid));
  const server: AskedServer = { origin, profile: deps.profile, tokenParams, isOfSpec, login };
  const request = refreshRequest(client, refreshToken);
  const sentAt = Math.floor(deps.clock.now() / 1000);
  const room = reserve(deps, record, sentAt);
  pass(deps, 'K2-reserved');
  return deferSignals(deps.signals, async () => {
    let isKept = false;
    const keep = (body: string): void => {
      pass(deps, 'K7-read');
      isKept = room.keep(body);
    };
    const sent = await attempts(deps, request, { server, deadline, inDoubt: found.inDoubt, keep });
    if (sent.kind === 'failed') {
      if (sent.inDoubt) room.leave();
      else room.drop();
      throw sent.error;
    }
    return conclude({ deps, items, cause, server, found, room, sentAt, isKept }, sent.raw);
  });
}

/** Proves before anything is sent that the answer will have a place. */
function reserve(deps: RefreshDeps, record: CredentialRecord, now: number): Room {
  try {
    return deps.store.journal.reserve(record, { now, random: deps.random, reached: deps.reached });
  } catch (error) {
    throw new CliError('keychain_unavailable', 'could not refresh the session: there is no safe place for the answer', {
      detail: `${error instanceof Error ? error.message : String(error)}; nothing was sent, and the session was kept`,
      hint: 'make the state folder writable for you, with some room on its disk, and run the command again',
      cause: error,
    });
  }
}

interface Ongoing {
  readonly deps: RefreshDeps;
  readonly items: Items;
  readonly cause: RefreshCause;
  readonly server: AskedServer;
  readonly found: Found;
  readonly room: Room;
  readonly sentAt: number;
  /** The answer is on the disk. */
  readonly isKept: boolean;
}

/** From a whole answer to the commit, or to the end of the session. */
async function conclude(ongoing: Ongoing, raw: RawAnswer): Promise<Renewal> {
  const { deps, items, cause, server, found, room } = ongoing;
  const result = processTokenAnswer(raw);
  if (result.kind === 'granted') {
    return {
      record: await commit(ongoing, renewed(found.record, result.grant, ongoing.sentAt)),
      inDoubt: false,
    };
  }
  // A success that is not understood may have been a grant, and an earlier doubt is only ended by a terminal answer.
  if (found.inDoubt || isSuccess(raw)) room.leave();
  else room.drop();
  if (result.kind !== 'refused' || result.error !== 'invalid_grant') throw notGranted(server, result);
  const ended = withoutRefresh(found.record, cause, deps.clock.now());
  await keepEnded(deps, items, ended);
  throw notAccepted(deps, ended, server);
}

async function keepEnded({ store }: RefreshDeps, items: Items, ended: CredentialRecord): Promise<void> {
  const written = await writeRecord(store, items, ended);
  if (!isUnavailable(written)) store.journal.clear({ ...ended, gen: ended.gen + 1 });
}

/**
 * A server whose grants do not say who logged in is none of spec.md §2. Such a one may bind a refresh token to the client's
 * credentials (RFC 6749 §6), which the way `query` does not send, and call the token invalid without them.
 */
function notAccepted({ profile, flowAgain }: RefreshDeps, ended: CredentialRecord, server: AskedServer): CliError {
  const detail = 'the authorization server no longer accepts its refresh token';
  const error = needsLogin(profile, detail, ended, flowAgain(ended.sid));
  const { tokenParams, isOfSpec } = server;
  if (tokenParams !== 'query' || isOfSpec) return error;
  return new CliError('needs_login', error.message, {
    detail: `${detail}; it may want the client's credentials with it, which token_params query does not send`,
    hint: `${credentialsElsewhere(profile, tokenParams)}, then ${error.hint}`,
  });
}

/** A session that cannot be renewed. It has ended when its access token is refused a second time as well: then `auth status` says so. */
async function withoutWay(
  deps: RefreshDeps,
  items: Items,
  record: CredentialRecord,
  cause: RefreshCause,
  deadline: AbortSignal,
): Promise<CliError> {
  const isRefused = cause.kind === 'refused';
  const detail = isRefused
    ? 'the server refused its access token and it has no refresh token'
    : 'it has no refresh token';
  if (isRefused && (await probeSoon(deps, record, deadline)) === 'refused')
    await keepEnded(deps, items, withoutRefresh(record, cause, deps.clock.now()));
  return needsLogin(deps.profile, detail, record, deps.flowAgain(record.sid));
}

function probeSoon(deps: RefreshDeps, record: CredentialRecord, deadline: AbortSignal): Promise<Acceptance> {
  return deps.probe(record.accessToken, AbortSignal.any([deadline, AbortSignal.timeout(10_000)]));
}

async function commit(ongoing: Ongoing, next: CredentialRecord): Promise<CredentialRecord> {
  const { deps, items, room, isKept } = ongoing;
  const written = await room.commit(next, () => writeRecord(deps.store, items, next));
  room.leave();
  if (isUnavailable(written)) {
    const { message, hint } = keychainError(written, deps.profile);
    const fate = isKept
      ? 'it is kept sealed in the state folder, from where later commands go on'
      : 'it ends with this command';
    await deps.warn(`the renewed session is not in the ${deps.store.kind}, ${fate}: ${message}; ${hint}`);
    return next;
  }
  pass(deps, 'K10-stored');
  deps.store.journal.clear(next);
  pass(deps, 'K10-cleared');
  return next;
}
