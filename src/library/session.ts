import { Secret } from '../secret.ts';
import {
  decryptRefreshJournal,
  encodeRefreshJournalHeader,
  encryptRefreshJournal,
  refreshJournalEncryptionOverhead,
  refreshTokenFingerprint,
} from '../session/encrypted-journal.ts';
import {
  buildStoredTokensAfterRefresh,
  decodeStoredTokens,
  encodeStoredTokens,
  type StoredTokens,
  storedTokenFields,
  type Tokens,
} from './stored-tokens.ts';
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
  /** The token is refreshed if it expires within this number of seconds (default: 300). */
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
  const stored = await readSession(store);
  if (stored !== undefined && isUsable(stored, options)) return freshTokenOf(stored);
  return store.withLock(async () => {
    const session = await adoptJournal(store, requireSession(await readSession(store)));
    if (isUsable(session, options)) return freshTokenOf(session);
    return freshTokenOf(await refreshSession(store, session, refresh, options));
  });
}

async function refreshSession(
  store: TokenStore,
  session: StoredTokens,
  refresh: RefreshTokens,
  { signal = new AbortController().signal }: FreshTokenOptions,
): Promise<StoredTokens> {
  const { refreshToken } = session;
  if (refreshToken === undefined) throw new LoginRequiredError('the session has no refresh token');
  signal.throwIfAborted();
  const head = encodeRefreshJournalHeader({
    sid: session.id,
    gen: session.generation + 1,
    fingerprint: refreshTokenFingerprint(new Secret(refreshToken)),
    sentAt: Math.floor(Date.now() / 1000),
    pid: process.pid,
  });
  const room = reservedBytes(session);
  const keep = await store.journal.begin(Buffer.from(head), room);
  let next: StoredTokens;
  try {
    next = buildStoredTokensAfterRefresh(session, storedTokenFields(await refresh(refreshToken, signal)));
  } catch (error) {
    if (error instanceof RefreshRefusedError) return endSession(store, session, error);
    if (error instanceof RequestNotSentError) await store.journal.remove();
    throw error;
  }
  const sealed = encryptRefreshJournal(
    head,
    new Secret(session.journalKey),
    encodeStoredTokens(next),
    room,
    randomBytes(12),
  );
  const isKept = await keep(sealed).then(
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
  await store.write(encodeStoredTokens(ended));
  await store.journal.remove();
  throw new LoginRequiredError('the server refused the refresh token', { cause });
}

/** Stores the grant that an earlier call could write only to the journal. */
async function adoptJournal(store: TokenStore, session: StoredTokens): Promise<StoredTokens> {
  const bytes = await store.journal.read();
  if (bytes === undefined) return session;
  const opened = decryptRefreshJournal(Buffer.from(bytes), new Secret(session.journalKey));
  const isNext = opened.head?.sid === session.id && opened.head.gen === session.generation + 1;
  const next = isNext && opened.kind === 'opens' ? decodeStoredTokens(opened.body.reveal()) : undefined;
  if (next !== undefined) {
    await store.write(encodeStoredTokens(next));
    await store.journal.remove();
    return next;
  }
  return session;
}

function isUsable(session: StoredTokens, { refusedToken, marginSeconds = 300 }: FreshTokenOptions): boolean {
  if (session.accessToken === refusedToken) return false;
  return session.expiresAt === undefined || session.expiresAt - Date.now() / 1000 > marginSeconds;
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

/** Twice the size of the present session, in whole blocks of 4 KiB, because the next tokens may be longer. */
function reservedBytes(session: StoredTokens): number {
  return 4096 * Math.ceil((2 * encodeStoredTokens(session).length + refreshJournalEncryptionOverhead) / 4096);
}

function randomWord(bytes: number): string {
  return Buffer.from(randomBytes(bytes)).toString('base64url');
}

function randomBytes(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(bytes));
}
