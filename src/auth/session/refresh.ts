import { CliError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { isDiskFull, storageError } from '../../base/storage-error.ts';
import { fileErrorCode } from '../../platform/files.ts';
import { accessCommand } from '../../platform/own-folder.ts';
import { InsecureFileError } from '../../platform/secret-file.ts';
import { deferSignals } from '../../platform/signals.ts';
import { runningTimeout, timeoutSignal } from '../../platform/waiting.ts';
import { isSameScope, type OAuthClient, scopeWords, type TokenGrant } from '../oauth/index.ts';
import { updateAccount } from './account.ts';
import { type RefreshSteps, refreshOnce } from './core.ts';
import { type ErrorContext, joinDetails } from './errors.ts';
import { reached } from './failpoints.ts';
import { loginCommand, reloginCommand } from './hints.ts';
import type { GrantWriter, Journal } from './journal.ts';
import { revokeGrant } from './logout.ts';
import {
  canReplace,
  decodeRecord,
  describeLifetime,
  isRefreshDue,
  isSameRecord,
  type RefreshCause,
  recordCodec,
  rejectedRecord,
  type SessionRecord,
  secondsLeft,
} from './record.ts';
import { flowOfSession, probeToken, type SessionRun, tokenClient } from './run.ts';
import { sendRefresh, sessionKept } from './send.ts';
import {
  type ItemWritten,
  isUnavailable,
  type OpenStore,
  removeLeftovers,
  StoreFailure,
  unavailableError,
} from './store.ts';
import {
  type FoundSession,
  needsLoginError,
  notRenewableError,
  otherAccountError,
  readSession,
  requireSession,
  whyNotRenewable,
  writeRecord,
} from './stored.ts';

/** The session after this or another process refreshed it, or unchanged when no refresh was needed. */
interface RefreshResult {
  readonly record: SessionRecord;
  /** Whether an earlier refresh still has an unknown result, although the access token has not been refused. */
  readonly inDoubt: boolean;
}

/** Time limit of all requests of a refresh, in milliseconds; other processes wait longer than this for the lock. */
const totalTimeoutMs = 35_000;

interface RefreshRun extends SessionRun {
  /** Ends all requests of the refresh. */
  readonly deadline: AbortSignal;
}

/**
 * Refreshes the session at most once. A refresh invalidates both old tokens at once (docs/service.md S5.8), so two simultaneous
 * refreshes would end the session: the store is read again under the lock of the profile, in case another process has refreshed
 * it. The steps of a refresh and their order are explained in docs/sessions.md.
 */
export async function refreshSession(run: SessionRun, cause: RefreshCause): Promise<RefreshResult> {
  run.requireSafe();
  reached(run, 'K1-waiting');
  const lock = await run.lock();
  try {
    reached(run, 'K1-locked');
    return await run.store.withItems(async (items) => {
      const found = await recoverSession(run, items);
      const timed = { ...run, deadline: runningTimeout(totalTimeoutMs) };
      const refusal = await requireRefresh(timed, items, found, cause);
      return refusal === undefined ? found : refreshFound(timed, items, found, refusal);
    }, lock);
  } finally {
    lock.release();
  }
}

/**
 * Reads the stored session under the profile's lock and recovers what an interrupted command has left (see the table of
 * docs/sessions.md). Throws when the store cannot be read or the item is missing; the store is then unchanged.
 */
async function recoverSession(run: SessionRun, items: OpenStore): Promise<FoundSession> {
  const { store, host, settings } = run;
  const found = await readUsableSession(run, items);
  const journal = store.journal(found.record.sid);
  removeLeftovers(store, found.record.sid, host.clock.now());
  if (found.pending && found.needsRecovery) {
    reached(run, 'R-promoting');
    const written = await writeIfCurrent(run, items, found.record, found.record);
    if (isUnavailable(written)) {
      await run.warn(
        `could not move the refreshed session into the ${store.name}: ${unavailableError(written, settings.profile).message}`,
      );
      return found;
    }
    // Another process has changed the store after it was read, so the stored record is the current one.
    if (written.kind === 'superseded') return readUsableSession(run, items);
    reached(run, 'R-promoted');
    // The journal of a later refresh in doubt is kept: the doubt ends only with a response.
    if (!found.inDoubt) await journal.remove().catch(() => undefined);
    const { onlyCopy: _stored, ...rest } = found;
    return { ...rest, pending: false };
  }
  if (found.isObsolete) await journal.remove().catch(() => undefined);
  return found;
}

async function readUsableSession({ store, binding, settings }: SessionRun, items: OpenStore): Promise<FoundSession> {
  return requireSession(await readSession(store, items, binding), settings.profile, store.location);
}

/** Why the refresh is sent, after an earlier refresh in doubt was checked; undefined if no refresh is due. */
async function requireRefresh(
  run: RefreshRun,
  items: OpenStore,
  { record, inDoubt }: FoundSession,
  cause: RefreshCause,
): Promise<RefreshCause | undefined> {
  const { settings, host } = run;
  if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(run, items, record);
  const isAlive = secondsLeft(record, host.clock.now()) > 0;
  let refusal = cause;
  if (inDoubt && cause.kind === 'due') {
    const acceptance = await probeToken(run, record.accessToken, timeoutSignal(10_000, run.deadline));
    if (acceptance === 'accepted' || (acceptance === 'unknown' && isAlive)) return undefined;
    if (acceptance === 'refused') refusal = { kind: 'refused', token: record.accessToken };
  } else if (!isRefreshDue(record, cause, host.clock.now())) return undefined;
  if (record.refreshToken !== undefined) return refusal;
  if (cause.kind === 'forced' && isAlive)
    throw notRenewableError(settings.profile, record, flowOfSession(run, record.sid), host.clock.now());
  if (cause.kind === 'due' && isAlive) return undefined;
  throw await endSessionWithoutRefreshToken(run, items, record, cause);
}

/** Without a refresh token, the session is stored as ended when the API refuses the access token. */
async function endSessionWithoutRefreshToken(
  run: RefreshRun,
  items: OpenStore,
  record: SessionRecord,
  cause: RefreshCause,
): Promise<CliError> {
  const isRefused = cause.kind === 'refused';
  const lack = whyNotRenewable(record);
  const detail = isRefused ? `the server refused the access token, and ${lack}` : lack;
  if (isRefused && (await probeToken(run, record.accessToken, timeoutSignal(10_000, run.deadline))) === 'refused')
    await writeIfCurrent(run, items, rejectedRecord(record, cause, run.host.clock.now()), record);
  return needsLoginError(run.settings.profile, detail, record, flowOfSession(run, record.sid));
}

async function refreshFound(
  run: RefreshRun,
  items: OpenStore,
  found: FoundSession,
  cause: RefreshCause,
): Promise<RefreshResult> {
  const { store, host } = run;
  const client = await tokenClient(run, run.binding);
  requireWritable(run);
  const sentAt = Math.floor(host.clock.now() / 1000);
  const errorContext = errorContextOf(run, client, found.record);
  const ended = rejectedRecord(found.record, cause, host.clock.now());
  const endedContext = endedContextOf(run, ended, errorContext);
  const refreshToken = found.record.refreshToken ?? ended.accessToken;
  let grant: TokenGrant | undefined;
  let failure: CliError | undefined;
  const steps: RefreshSteps<SessionRecord> = {
    codec: recordCodec,
    journal: withStorageErrors(
      store.journal(found.record.sid, (stage) => reached(run, stage === 'written' ? 'K7-written' : 'K8-sealed')),
    ),
    random: host.random,
    sleep: (ms) => host.clock.sleep(ms),
    read: async () => (await readUsableSession(run, items)).record,
    write: async (next) => {
      const written = await writeIfCurrent(run, items, next, found.record);
      if (isUnavailable(written)) throw new StoreFailure(written);
      if (written.kind === 'superseded') await revokeUnwanted(run, items, client, next);
      return written.kind === 'done';
    },
    send: async (keep) => {
      const answer = await sendRefresh(run, client, {
        ...{ refreshToken, errorContext, endedContext, deadline: run.deadline, sentAt, found, ended },
        keep: async (next) => {
          reached(run, 'K7-read');
          await keep(next);
        },
      });
      if (answer.kind === 'granted') [grant, failure] = [answer.grant, answer.failure];
      return answer;
    },
    onUnstored: (error, isKept) => reportUnstored(run, error, isKept),
    onFailpoint: run.onFailpoint,
  };
  return deferSignals(host.signals, async () => {
    const record = await refreshOnce(steps, found, sentAt);
    if (record.otherGrant !== undefined) throw await endGrantOfOtherAccount(run, items, record);
    if (failure !== undefined) throw failure;
    if (grant !== undefined) await reportGrant(run, found.record, record, grant);
    return { record, inDoubt: false };
  });
}

/** Nothing is sent while the response could not be stored. */
function requireWritable({ store }: SessionRun): void {
  const failure = store.checkWritable();
  if (failure !== undefined) throw unstorableError(failure.cause);
}

/** The errors of a journal that cannot be begun, before the request is sent. */
function withStorageErrors(journal: Journal): Journal {
  const begin = async (head: Uint8Array, room: number, attempt = 1): Promise<GrantWriter> => {
    try {
      return await journal.begin(head, room);
    } catch (error) {
      // Another process has removed this file as obsolete, on a file system that does not share locks.
      if (fileErrorCode(error) === 'ENOENT' && attempt < 10) return begin(head, room, attempt + 1);
      throw unstorableError(error);
    }
  };
  const read = (): Promise<Uint8Array | undefined> =>
    journal.read().catch((error: unknown) => {
      throw unstorableError(error);
    });
  return { ...journal, read, begin };
}

function unstorableError(error: unknown): CliError {
  const lack = isDiskFull(error)
    ? 'no disk space could be reserved for the response'
    : 'the response could not be stored';
  const message = `could not refresh the session: ${lack}`;
  const reason = error instanceof Error ? error.message : String(error);
  const detail = `${reason}; nothing was sent, and the session was kept`;
  if (error instanceof InsecureFileError)
    return new CliError('keychain_unavailable', message, { detail, hint: error.hint, cause: error });
  const elsewhere =
    accessCommand(error) ?? 'set CLOUDCTL_STATE_DIR to a folder that you can write to, then log in again';
  return storageError(message, error, { detail, elsewhere });
}

/** The store did not take the new record: it is in the journal, which later commands read, or it is lost with this command. */
async function reportUnstored({ store, settings, warn }: SessionRun, error: unknown, isKept: boolean): Promise<void> {
  if (!(error instanceof StoreFailure)) throw error;
  const { message, detail, hint } = unavailableError(error.unavailable, settings.profile);
  const what = `could not store the refreshed session in the ${store.name}`;
  if (isKept) {
    const consequence = 'an encrypted copy in the state folder is used by later commands';
    await warn(`${what}: ${store.kind === 'file' ? detail : message}; ${consequence}; ${hint}`);
    return;
  }
  const consequence = 'the new tokens are lost with this command, and the next command needs a login';
  throw new CliError('keychain_unavailable', what, { detail: `${detail}; ${consequence}`, hint });
}

/**
 * Writes the record that a refresh of `sent` has created, unless the store has changed since then: the lock excludes other
 * processes only on file systems that share locks. `superseded` means that the store contains a newer grant, another session or
 * no session, and was not changed.
 */
export async function writeIfCurrent(
  { store }: Pick<SessionRun, 'store'>,
  items: OpenStore,
  next: SessionRecord,
  sent: SessionRecord,
): Promise<ItemWritten | { readonly kind: 'superseded' }> {
  const item = await items.read('credential');
  if (item.kind === 'unavailable') return item;
  const stored = item.kind === 'found' ? decodeRecord(item.value) : undefined;
  if (stored !== undefined && isSameRecord(stored, next)) return { kind: 'done' };
  return canReplace(stored, sent) ? writeRecord(store, items, next) : { kind: 'superseded' };
}

/** A grant for a session that was meanwhile removed, or replaced by a login, is of no use to anybody. */
async function revokeUnwanted(
  run: SessionRun,
  items: OpenStore,
  client: OAuthClient,
  next: SessionRecord,
): Promise<void> {
  const item = await items.read('credential');
  const stored = item.kind === 'found' ? decodeRecord(item.value) : undefined;
  if (item.kind !== 'unavailable' && stored?.sid !== next.sid) await revokeGrant({ ...run, client }, next);
}

/**
 * Revokes a grant of another account or team, with which a refresh was answered; the session stays ended. The caller must have
 * the lock of the profile. @returns the error, which names both accounts
 */
async function endGrantOfOtherAccount(run: SessionRun, items: OpenStore, record: SessionRecord): Promise<CliError> {
  const { otherGrant, refreshToken: _other, ...rest } = record;
  if (otherGrant === undefined || otherGrant.isRevoked) return otherAccountError(run, record);
  const isRevoked = await revokeGrant({ ...run, client: await tokenClient(run, run.binding) }, record);
  const ended = isRevoked ? { ...rest, otherGrant: { ...otherGrant, isRevoked } } : record;
  const written = await writeIfCurrent(run, items, ended, record);
  if (written.kind === 'done')
    await run.store
      .journal(ended.sid)
      .remove()
      .catch(() => undefined);
  return otherAccountError(run, ended);
}

/** Stores the names of the account, and warns about another scope and about the end of the refresh tokens. */
async function reportGrant(
  run: SessionRun,
  before: SessionRecord,
  record: SessionRecord,
  grant: TokenGrant,
): Promise<void> {
  const { host, settings, warn } = run;
  const [earlier, granted] = [scopeWords(before.scope), scopeWords(record.scope)];
  if (!isSameScope(before.scope, record.scope)) {
    const isPart = (one: readonly string[], other: readonly string[]) => one.every((word) => other.includes(word));
    const verb = isPart(granted, earlier) ? 'reduced' : isPart(earlier, granted) ? 'extended' : 'changed';
    const [from, to] = [earlier, granted].map((words) => sanitizeLine(words.join(' ')));
    await warn(`the server ${verb} the scope of the session from "${from}" to "${to}"`);
  }
  if (before.refreshToken !== undefined && record.refreshToken === undefined) {
    const login = loginCommand(settings.profile, record.scope, flowOfSession(run, record.sid));
    const valid = `the access token is valid ${describeLifetime(record.expiresAt, host.clock.now())}`;
    await warn(
      `the session has no refresh token any more, because the new one cannot be used; ${valid}; log in again before it expires: ${login}`,
    );
  }
  updateAccount(host.folders.config, settings.profileName, record, grant.info);
}

function errorContextOf(run: SessionRun, client: OAuthClient, record: SessionRecord): ErrorContext {
  const { profile } = run.settings;
  return {
    operation: 'refresh',
    origin: client.authOrigin,
    profile,
    tokenParams: client.tokenParams,
    isSpecServer: record.accountUuid !== undefined,
    loginCommand: loginCommand(profile, record.scope, flowOfSession(run, record.sid)),
    consequence: sessionKept,
  };
}

/** For the error that ends a session: the command that logs in to the same account, and a possible reason. */
function endedContextOf(run: SessionRun, ended: SessionRecord, context: ErrorContext): ErrorContext {
  const { consequence: _kept, ...rest } = context;
  const mayMissCredentials = context.tokenParams === 'query' && !context.isSpecServer;
  const now = run.host.clock.now();
  const isAlive = secondsLeft(ended, now) > 0;
  const facts = joinDetails(
    isAlive ? `the access token is valid ${describeLifetime(ended.expiresAt, now)}` : undefined,
    mayMissCredentials
      ? 'a refresh with token_params query sends no client credentials, which some servers require'
      : undefined,
  );
  return {
    ...rest,
    isAlive,
    loginCommand: reloginCommand(run.settings.profile, ended, flowOfSession(run, ended.sid)),
    ...(facts === '' ? {} : { consequence: facts }),
  };
}
