import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../json.ts';

/** Tokens from the token endpoint. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** `expires_in` of the response. Default: the expiry is unknown, so that only `refusedToken` leads to a refresh. */
  readonly expiresInSeconds?: number | undefined;
}

export interface StoredTokens {
  /** The random session id, which is new at every login. */
  readonly id: string;
  /** The number of grants so far: 1 at the login, plus 1 for each refresh. */
  readonly generation: number;
  /** The encryption key of the journal: 32 bytes in base64url. */
  readonly journalKey: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Seconds since the epoch. */
  readonly expiresAt?: number;
}

export type StoredTokenFields = Pick<StoredTokens, 'accessToken' | 'refreshToken' | 'expiresAt'>;

/** Throws a TypeError without an access token. */
export function storedTokenFields({ accessToken, refreshToken, expiresInSeconds }: Tokens): StoredTokenFields {
  if (typeof accessToken !== 'string' || accessToken === '') throw new TypeError('accessToken must be a text');
  const isExpiryKnown = expiresInSeconds !== undefined && Number.isFinite(expiresInSeconds);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(isExpiryKnown ? { expiresAt: Math.floor(Date.now() / 1000 + expiresInSeconds) } : {}),
  };
}

/** A response without a refresh token keeps the old one (RFC 6749 §6). */
export function buildStoredTokensAfterRefresh(
  { id, generation, journalKey, refreshToken }: StoredTokens,
  fields: StoredTokenFields,
): StoredTokens {
  const kept = refreshToken === undefined ? {} : { refreshToken };
  return { id, generation: generation + 1, journalKey, ...kept, ...fields };
}

/** The session as one line of JSON; it contains tokens. */
export function encodeStoredTokens({ id, generation, journalKey, ...tokens }: StoredTokens): string {
  return JSON.stringify({ v: 1, id, generation, journal_key: journalKey, ...tokens });
}

/** Decodes the tokens of a store; undefined if the text is damaged, or was written by a newer version of this program. */
export function decodeStoredTokens(text: string): StoredTokens | undefined {
  const json = tryParseJson(text);
  if (!json.ok || !isJsonRecord(json.value) || json.value.v !== 1) return undefined;
  const fields = json.value;
  const [id, journalKey, accessToken] = ['id', 'journal_key', 'accessToken'].map((name) =>
    readStringField(fields, name),
  );
  const generation = readNumberField(fields, 'generation');
  if (id === undefined || journalKey === undefined || accessToken === undefined || generation === undefined)
    return undefined;
  const [refreshToken, expiresAt] = [readStringField(fields, 'refreshToken'), readNumberField(fields, 'expiresAt')];
  const optional = {
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { id, generation, journalKey, accessToken, ...optional };
}
