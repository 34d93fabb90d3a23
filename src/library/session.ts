import { computeTokenRefreshMarginSeconds } from '../auth/session/credential-record.ts';
import { decryptRefreshJournal } from '../auth/session/encrypted-journal.ts';
import { Secret } from '../base/secret.ts';
import {
  buildStoredTokensAfterRefresh,
  decodeStoredTokens,
  encodeStoredTokens,
  type StoredTokens,
  storedTokenFields,
  type Tokens,
} from './stored-tokens.ts';
import { reserveTokenJournalEntry, splitTokenJournalEntries } from './token-journal-entries.ts';
import type { TokenStore } from './token-store.ts';

export type { Tokens } from './stored-tokens.ts';

export {
  createFileTokenStore,
  createKeychainTokenStore,
  createMemoryTokenStore,
  type KeychainTokenStoreOptions,
  type TokenJournal,
  type TokenStore,
  TokenStoreError,
} from './token-store.ts';

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
    ...storedTokenFields(tokens),
    id: randomWord(8),
    generation: 1,
    journalKey: randomWord(32),
  };
  await store.withLock(async () => {
    await store.write(encodeStoredTokens(session));
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
  const startedAt = Math.floor(Date.now() / 1000);
  const first = await readSession(store);
  if (first !== undefined && isUsable(first, options) && !(await isLaterGrantInJournal(store, first)))
    return freshTokenOf(first);
  return store.withLock(async () => {
    const stored = requireSession(await readSession(store));
    const newest = await adoptJournal(store, stored);
    const { session } = newest;
    const isRefreshedSince =
      isReplaced(first, stored) || (session !== stored && (session.obtainedAt ?? 0) >= startedAt);
    // Another refresh would invalidate the token that the other callers have just received.
    if (isUsable(session, isRefreshedSince ? { ...options, marginSeconds: 0 } : options)) return freshTokenOf(session);
    return freshTokenOf(await refreshSession(store, newest, refresh, options));
  });
}

/** The session with its latest grant. */
interface NewestSession {
  readonly session: StoredTokens;
  /** The journal entry of the grant when the store does not have it. The journal must keep this entry. */
  readonly onlyCopy?: Uint8Array;
}

async function refreshSession(
  store: TokenStore,
  { session, onlyCopy }: NewestSession,
  refresh: RefreshTokens,
  { signal = new AbortController().signal }: FreshTokenOptions,
): Promise<StoredTokens> {
  const { refreshToken } = session;
  if (refreshToken === undefined) throw new LoginRequiredError('the session has no refresh token');
  signal.throwIfAborted();
  const writeToJournal = await reserveTokenJournalEntry(store.journal, session, refreshToken, onlyCopy);
  let next: StoredTokens;
  try {
    next = buildStoredTokensAfterRefresh(session, storedTokenFields(await refresh(refreshToken, signal)));
  } catch (error) {
    if (error instanceof RefreshRefusedError) return endSession(store, session, error);
    // A new entry without a grant needs no removal: the next call reads the entry before it.
    if (error instanceof RequestNotSentError && onlyCopy === undefined) await store.journal.remove();
    throw error;
  }
  const isKept = await writeToJournal(next).then(
    () => true,
    () => false,
  );
  try {
    await store.write(encodeStoredTokens(next));
    await store.journal.remove();
  } catch (error) {
    // The journal still has the grant, and the next call stores it in the session.
    if (!isKept) throw error;
  }
  return next;
}

/**
 * The server refused the refresh token. If another machine that shares the store has refreshed the session, the tokens
 * of that refresh are used.
 */
async function endSession(store: TokenStore, session: StoredTokens, cause: RefreshRefusedError): Promise<StoredTokens> {
  const current = await readSession(store);
  if (current !== undefined && (current.id !== session.id || current.generation > session.generation)) {
    await store.journal.remove();
    return current;
  }
  const { refreshToken: _, ...ended } = session;
  try {
    await store.write(encodeStoredTokens(ended));
    await store.journal.remove();
  } catch {
    // The next call sends the refused token once more. The user has to log in in either case.
  }
  throw new LoginRequiredError('the server refused the refresh token', { cause });
}

/**
 * Stores the grant that an earlier call could write only to the journal. If the store does not take the grant, for example
 * because it is too long for the keychain, the journal keeps it.
 */
async function adoptJournal(store: TokenStore, stored: StoredTokens): Promise<NewestSession> {
  const found = findJournaledSession(await store.journal.read(), stored);
  if (found === undefined) return { session: stored };
  try {
    await store.write(encodeStoredTokens(found.session));
    await store.journal.remove();
    return { session: found.session };
  } catch {
    return found;
  }
}

/** Read without the lock: an entry that is being written cannot be decrypted, and counts as missing. */
async function isLaterGrantInJournal(store: TokenStore, stored: StoredTokens): Promise<boolean> {
  const journal = await store.journal.read().catch(() => undefined);
  return findJournaledSession(journal, stored) !== undefined;
}

/** The latest grant in the journal that is later than the one in the store. */
function findJournaledSession(journal: Uint8Array | undefined, stored: StoredTokens): NewestSession | undefined {
  for (const entry of journal === undefined ? [] : splitTokenJournalEntries(journal)) {
    const opened = decryptRefreshJournal(entry, new Secret(stored.journalKey));
    const isLater = opened.head?.sid === stored.id && opened.head.gen > stored.generation;
    const session = isLater && opened.kind === 'opens' ? decodeStoredTokens(opened.body.reveal()) : undefined;
    if (session !== undefined) return { session, onlyCopy: entry };
  }
  return undefined;
}

/** Whether the token was not refused and is valid for more than the margin. */
function isUsable(session: StoredTokens, options: FreshTokenOptions): boolean {
  const { accessToken, expiresAt, obtainedAt } = session;
  if (accessToken === options.refusedToken) return false;
  if (expiresAt === undefined || obtainedAt === undefined) return true;
  const { marginSeconds = computeTokenRefreshMarginSeconds({ expiresAt, obtainedAt }) } = options;
  return expiresAt - Math.floor(Date.now() / 1000) > marginSeconds;
}

/** Whether another caller has refreshed the session, or the user has logged in again, since the first read. */
function isReplaced(first: StoredTokens | undefined, stored: StoredTokens): boolean {
  return first === undefined || first.id !== stored.id || first.generation < stored.generation;
}

function freshTokenOf({ accessToken, expiresAt }: StoredTokens): FreshToken {
  return { accessToken, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt * 1000) };
}

async function readSession(store: TokenStore): Promise<StoredTokens | undefined> {
  const text = await store.read();
  if (text === undefined) return undefined;
  const session = decodeStoredTokens(text);
  if (session === undefined)
    throw new LoginRequiredError('the stored session cannot be read: it is damaged, or of another version');
  return session;
}

function requireSession(session: StoredTokens | undefined): StoredTokens {
  if (session === undefined) throw new LoginRequiredError('there is no session');
  return session;
}

function randomWord(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url');
}
