import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../base/json.ts';

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
  /** When the access token was received, in seconds since the epoch; absent when the expiry is unknown. */
  readonly obtainedAt?: number;
}

export type StoredTokenFields = Pick<StoredTokens, 'accessToken' | 'refreshToken' | 'expiresAt' | 'obtainedAt'>;

/** Throws a TypeError without an access token. */
export function storedTokenFields({ accessToken, refreshToken, expiresInSeconds }: Tokens): StoredTokenFields {
  if (typeof accessToken !== 'string' || accessToken === '') throw new TypeError('accessToken must be a text');
  const lifetime = decodeLifetimeSeconds(expiresInSeconds);
  const obtainedAt = Math.floor(Date.now() / 1000);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && refreshToken !== '' ? { refreshToken } : {}),
    ...(lifetime === undefined ? {} : { expiresAt: obtainedAt + lifetime, obtainedAt }),
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
  const refreshToken = readStringField(fields, 'refreshToken');
  const [expiresAt, obtainedAt] = ['expiresAt', 'obtainedAt'].map((name) => readNumberField(fields, name));
  const optional = {
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expiresAt === undefined || obtainedAt === undefined ? {} : { expiresAt, obtainedAt }),
  };
  return { id, generation, journalKey, accessToken, ...optional };
}

/** The longest accepted lifetime, about 317 years, because a later expiry would exceed the range of JavaScript dates. */
const maxLifetimeSeconds = 9_999_999_999;

/** Whole seconds; undefined when the value is not a number. */
function decodeLifetimeSeconds(value: Tokens['expiresInSeconds']): number | undefined {
  // Some servers send `expires_in` as a string, with decimals if they compute it.
  const seconds = typeof value === 'string' && /^\d{1,10}(\.\d{1,20})?$/.test(value) ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined;
  return Math.min(Math.floor(seconds), maxLifetimeSeconds);
}
