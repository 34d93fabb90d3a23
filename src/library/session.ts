import {
  findNewest,
  type Journaled,
  type Newest,
  type RecordCodec,
  type RefreshAnswer,
  refreshMargin,
  refreshOnce,
} from '../auth/session/core.ts';
import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../base/json.ts';
import { Secret } from '../base/secret.ts';
import type { TokenStore } from './token-store.ts';

export {
  createFileTokenStore,
  createKeychainTokenStore,
  createMemoryTokenStore,
  type GrantWriter,
  type KeychainTokenStoreOptions,
  type TokenJournal,
  type TokenStore,
  TokenStoreError,
} from './token-store.ts';

/** Tokens from the token endpoint. */
export interface Tokens {
  readonly accessToken: string;
  /** `refresh_token` of the response; null and an empty string mean that the response has none. */
  readonly refreshToken?: string | null | undefined;
  /**
   * `expires_in` of the response, a number or its decimal digits. Default: the expiry is unknown, so that only
   * `refusedToken` leads to a refresh.
   */
  readonly expiresInSeconds?: number | string | null | undefined;
}

export interface FreshToken {
  readonly accessToken: string;
  /** undefined: unknown. */
  readonly expiresAt: Date | undefined;
}

/**
 * Sends the refresh token to the token endpoint, once, and resolves with the grant. Throws a RefreshRefusedError when
 * the server refused the refresh token (`invalid_grant`), and a RequestNotSentError when the request certainly did not
 * reach the server. After any other error the refresh token may be used up; the next call sends it again.
 */
export type RefreshTokens = (refreshToken: string, signal: AbortSignal) => Promise<Tokens>;

export class RefreshRefusedError extends Error {
  override readonly name = 'RefreshRefusedError';
}

export class RequestNotSentError extends Error {
  override readonly name = 'RequestNotSentError';
}

/** There is no session, or it cannot be refreshed: the user has to log in again. */
export class LoginRequiredError extends Error {
  override readonly name = 'LoginRequiredError';
}

export interface FreshTokenOptions {
  /**
   * An access token that the resource server refused. If the store still contains this token, the session is refreshed.
   */
  readonly refusedToken?: string;
  /**
   * The token is refreshed if it expires within this number of seconds (default: 300, or a fifth of the lifetime of the
   * token if that is less).
   */
  readonly marginSeconds?: number;
  /** Aborts the wait for the request. A grant that has already arrived is still stored. */
  readonly signal?: AbortSignal;
}

/** Stores the tokens of a login, in place of any earlier session. */
export async function saveTokens(store: TokenStore, tokens: Tokens): Promise<void> {
  const session: StoredTokens = {
    ...fieldsOf(tokens),
    sid: randomWord(8),
    gen: 1,
    journalKey: new Secret(randomWord(32)),
  };
  await store.withLock(async () => {
    await store.write(codec.encode(session).reveal());
    await store.journal.remove();
  });
}

/** Removes the session from the store. Revoke the tokens at the server before you call this function. */
export async function removeTokens(store: TokenStore): Promise<void> {
  await store.withLock(async () => {
    await store.remove();
    await store.journal.remove();
  });
}

/**
 * A usable access token. When the stored token has expired or expires soon, one process refreshes it and the other
 * processes adopt the result, so that a refresh token that the server accepts only once is sent only once. The grant is
 * written to the journal before the store, so that a process that is killed in between loses nothing: the next call
 * adopts it.
 * @throws LoginRequiredError, TokenStoreError, and the errors of `refresh`
 */
export async function withFreshToken(
  store: TokenStore,
  refresh: RefreshTokens,
  options: FreshTokenOptions = {},
): Promise<FreshToken> {
  const startedAt = nowSeconds();
  const first = await readSession(store);
  if (first !== undefined && isUsable(first, options) && !(await isLaterGrantInJournal(store, first)))
    return freshTokenOf(first);
  return store.withLock(async () => {
    const stored = requireSession(await readSession(store));
    const newest = await adoptJournal(store, stored);
    const { record: session } = newest;
    const isRefreshedSince =
      isReplaced(first, stored) || (session !== stored && (session.obtainedAt ?? 0) >= startedAt);
    // Another refresh would invalidate the token that the other callers have just received.
    if (isUsable(session, isRefreshedSince ? { ...options, marginSeconds: 0 } : options)) return freshTokenOf(session);
    return freshTokenOf(await refreshStored(store, newest, refresh, options));
  });
}

async function refreshStored(
  store: TokenStore,
  newest: Newest<StoredTokens>,
  refresh: RefreshTokens,
  { signal = new AbortController().signal }: FreshTokenOptions,
): Promise<StoredTokens> {
  const { record: session } = newest;
  const { refreshToken } = session;
  if (refreshToken === undefined) throw new LoginRequiredError('the session has no refresh token');
  signal.throwIfAborted();
  let failure: TypeError | undefined;
  const send = async (keep: (next: StoredTokens) => Promise<void>): Promise<RefreshAnswer<StoredTokens>> => {
    try {
      const tokens = await refresh(refreshToken.reveal(), signal);
      // The old refresh token may be used up, so a new one is stored in any case; the next call sends it.
      const isPartial = !isToken(tokens.accessToken) && isToken(tokens.refreshToken);
      const { accessToken } = isPartial ? session : tokens;
      const next = renewed(session, isPartial ? { ...tokens, accessToken, expiresInSeconds: 0 } : tokens);
      if (isPartial) failure = missingTokenError();
      await keep(next);
      return { kind: 'granted', next };
    } catch (error) {
      if (!(error instanceof RefreshRefusedError))
        return { kind: 'failed', error, mayBeProcessed: !(error instanceof RequestNotSentError) };
      const { refreshToken: _, ...ended } = session;
      const refused = new LoginRequiredError('the server refused the refresh token', { cause: error });
      return { kind: 'ended', ended, error: refused, mayBeProcessed: false };
    }
  };
  const next = await refreshOnce(
    {
      codec,
      journal: store.journal,
      random: randomBytes,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      read: () => readSession(store),
      write: async (next) => {
        // Another machine that shares the store, but not its locks, may have refreshed the session.
        if (isReplaced(session, requireSession(await readSession(store)))) return false;
        await store.write(codec.encode(next).reveal());
        return true;
      },
      send,
      onUnstored: async (error, isKept) => {
        // The journal still has the grant, and the next call stores it in the session.
        if (!isKept) throw error;
      },
    },
    newest,
    nowSeconds(),
  );
  if (failure !== undefined) throw failure;
  return next;
}

/**
 * Stores the grant that an earlier call could write only to the journal. If the store does not take the grant, for example
 * because it is too long for the keychain, the journal keeps it.
 */
async function adoptJournal(store: TokenStore, stored: StoredTokens): Promise<Newest<StoredTokens>> {
  const found = findNewest(await store.journal.read(), stored, codec);
  if (found.onlyCopy === undefined) return found;
  try {
    await store.write(codec.encode(found.record).reveal());
    await store.journal.remove();
    return { record: found.record, inDoubt: false, isObsolete: false };
  } catch {
    return found;
  }
}

/** Read without the lock: an entry that is being written cannot be decrypted, and counts as missing. */
async function isLaterGrantInJournal(store: TokenStore, stored: StoredTokens): Promise<boolean> {
  const journal = await store.journal.read().catch(() => undefined);
  return findNewest(journal, stored, codec).onlyCopy !== undefined;
}

/** Whether the token was not refused and is valid for more than the margin. */
function isUsable(session: StoredTokens, options: FreshTokenOptions): boolean {
  const { accessToken, expiresAt, obtainedAt } = session;
  if (accessToken === options.refusedToken) return false;
  if (expiresAt === undefined || obtainedAt === undefined) return true;
  const { marginSeconds = refreshMargin({ expiresAt, obtainedAt }) } = options;
  return expiresAt - nowSeconds() > marginSeconds;
}

/** Whether another caller has refreshed the session, or the user has logged in again, since the first read. */
function isReplaced(first: StoredTokens | undefined, stored: StoredTokens): boolean {
  return first === undefined || first.sid !== stored.sid || first.gen < stored.gen;
}

function freshTokenOf({ accessToken, expiresAt }: StoredTokens): FreshToken {
  return { accessToken, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt * 1000) };
}

async function readSession(store: TokenStore): Promise<StoredTokens | undefined> {
  const text = await store.read();
  if (text === undefined) return undefined;
  const session = codec.decode(text);
  if (session === undefined)
    throw new LoginRequiredError('the stored session cannot be read: it is damaged, or of another version');
  return session;
}

function requireSession(session: StoredTokens | undefined): StoredTokens {
  if (session === undefined) throw new LoginRequiredError('there is no session');
  return session;
}

function randomWord(bytes: number): string {
  return Buffer.from(randomBytes(bytes)).toString('base64url');
}

function randomBytes(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(bytes));
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

interface StoredTokens extends Journaled {
  readonly accessToken: string;
  /** Seconds since the epoch. */
  readonly expiresAt?: number;
  /** When the access token was received, in seconds since the epoch; absent when the expiry is unknown. */
  readonly obtainedAt?: number;
}

type TokenFields = Pick<StoredTokens, 'accessToken' | 'refreshToken' | 'expiresAt' | 'obtainedAt'>;

/** Throws a TypeError without an access token. */
function fieldsOf({ accessToken, refreshToken, expiresInSeconds }: Tokens): TokenFields {
  if (!isToken(accessToken)) throw missingTokenError();
  const lifetime = decodeLifetimeSeconds(expiresInSeconds);
  const obtainedAt = nowSeconds();
  return {
    accessToken,
    ...(isToken(refreshToken) ? { refreshToken: new Secret(refreshToken) } : {}),
    ...(lifetime === undefined ? {} : { expiresAt: obtainedAt + lifetime, obtainedAt }),
  };
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function missingTokenError(): TypeError {
  return new TypeError('accessToken must be a text');
}

/** A response without a refresh token keeps the old one; one that cannot be used has replaced it (RFC 6749 §6). */
function renewed({ sid, gen, journalKey, refreshToken }: StoredTokens, tokens: Tokens): StoredTokens {
  const kept = refreshToken !== undefined && (tokens.refreshToken ?? '') === '' ? { refreshToken } : {};
  return { sid, gen: gen + 1, journalKey, ...kept, ...fieldsOf(tokens) };
}

/** The session as one line of JSON; it contains tokens. */
const codec: RecordCodec<StoredTokens> = {
  encode: ({ sid, gen, journalKey, refreshToken, ...tokens }) =>
    new Secret(
      JSON.stringify({
        ...{ v: 1, id: sid, generation: gen, journal_key: journalKey.reveal() },
        ...{ ...tokens, refreshToken: refreshToken?.reveal() },
      }),
    ),
  decode: (text) => {
    const json = tryParseJson(text);
    if (!json.ok || !isJsonRecord(json.value) || json.value.v !== 1) return undefined;
    const fields = json.value;
    const [sid, journalKey, accessToken] = ['id', 'journal_key', 'accessToken'].map((name) =>
      readStringField(fields, name),
    );
    const gen = readNumberField(fields, 'generation');
    if (sid === undefined || journalKey === undefined || accessToken === undefined || gen === undefined)
      return undefined;
    const refreshToken = readStringField(fields, 'refreshToken');
    const [expiresAt, obtainedAt] = ['expiresAt', 'obtainedAt'].map((name) => readNumberField(fields, name));
    const optional = {
      ...(refreshToken === undefined ? {} : { refreshToken: new Secret(refreshToken) }),
      ...(expiresAt === undefined || obtainedAt === undefined ? {} : { expiresAt, obtainedAt }),
    };
    return { sid, gen, journalKey: new Secret(journalKey), accessToken, ...optional };
  },
};

/** The longest accepted lifetime, about 317 years, because a later expiry would exceed the range of JavaScript dates. */
const maxLifetimeSeconds = 9_999_999_999;

/** Whole seconds; undefined when the value is not a number. */
function decodeLifetimeSeconds(value: Tokens['expiresInSeconds']): number | undefined {
  // Some servers send `expires_in` as a string, with decimals if they compute it.
  const seconds = typeof value === 'string' && /^\d{1,10}(\.\d{1,20})?$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined;
  return Math.min(Math.floor(seconds), maxLifetimeSeconds);
}
