import { personalTeam } from '../../base/identity.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import { Secret, withhold } from '../../base/secret.ts';

/** The grant in a token response: access token, refresh token, lifetime, scope and account (docs/service.md S2.5). */
export interface TokenGrant {
  readonly accessToken: Secret;
  /** The refresh token; absent in the implicit flow and from servers that issue none. */
  readonly refreshToken?: Secret;
  /** The lifetime of the access token in seconds; absent when the response does not contain it, which RFC 6749 §5.1 allows. */
  readonly expiresIn?: number;
  /**
   * The granted scope; absent when the response does not contain it, which means that the requested scope was granted (RFC 6749
   * §5.1).
   */
  readonly scope?: string;
  readonly info?: AccountInfo;
}

/** The tokens of a response that is not a valid grant: at least one. */
export interface PartialGrant {
  readonly refreshToken?: Secret;
  readonly accessToken?: Secret;
  readonly info?: AccountInfo;
  /** What the response grants beside a refresh token that cannot be used, if that is its only fault. */
  readonly unrenewable?: TokenGrant;
}

/**
 * The assumed lifetime of an access token in seconds if the response contains none (docs/service.md S2.7). If an access token expires
 * earlier than assumed, the server refuses it and the program refreshes it.
 */
export const assumedLifetime = 2_592_000;

export interface AccountInfo {
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly teamUuid?: string;
  readonly teamName?: string;
}

/**
 * The account of a grant and its context (personal or team). A response with an account but without a team means the personal
 * context of the account (docs/service.md S2.10).
 */
export function accountAndTeam(info: AccountInfo | undefined): {
  accountUuid?: string;
  team?: string;
} {
  const { uuid, teamUuid } = info ?? {};
  const team = teamUuid ?? (uuid === undefined ? undefined : personalTeam);
  return { ...(uuid === undefined ? {} : { accountUuid: uuid }), ...(team === undefined ? {} : { team }) };
}

type GrantResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/**
 * Decodes a successful response of the token endpoint (https://www.rfc-editor.org/rfc/rfc6749#section-5.1). The reason of a
 * failure quotes no value of the response.
 */
export function decodeGrant(json: unknown): GrantResult<TokenGrant> {
  if (!isJsonRecord(json)) return { ok: false, reason: 'the response is not a JSON object' };
  if (!isAbsent(json.error)) return { ok: false, reason: 'the response has a success status and an error' };
  const accessToken = readStringField(json, 'access_token');
  if (accessToken === undefined || !hasTokenSyntax(accessToken))
    return { ok: false, reason: 'access_token is missing or not visible ASCII' };
  if (readStringField(json, 'token_type')?.toLowerCase() !== 'bearer')
    return { ok: false, reason: 'token_type is missing or not bearer' };
  const lifetime = decodeLifetime(json);
  if (lifetime === undefined) return { ok: false, reason: 'expires_in is not a positive number of seconds' };
  // A server may send an empty string instead of omitting the refresh token.
  const refreshToken = json.refresh_token === '' ? undefined : json.refresh_token;
  if (
    refreshToken !== undefined &&
    refreshToken !== null &&
    !(typeof refreshToken === 'string' && hasTokenSyntax(refreshToken))
  ) {
    return { ok: false, reason: 'refresh_token is not visible ASCII' };
  }
  const scope = decodeScope(json);
  if (scope === undefined) return { ok: false, reason: 'scope is neither a string nor an array of strings' };
  const info = isJsonRecord(json.info) ? decodeInfo(json.info) : undefined;
  return {
    ok: true,
    value: {
      accessToken: withhold(new Secret(accessToken)),
      ...(typeof refreshToken === 'string' ? { refreshToken: withhold(new Secret(refreshToken)) } : {}),
      ...lifetime,
      ...(scope === '' ? {} : { scope }),
      ...(info === undefined ? {} : { info }),
    },
  };
}

/** Returns undefined when the response contains an error or no valid token. */
export function decodePartialGrant(json: unknown): PartialGrant | undefined {
  if (!isJsonRecord(json) || !isAbsent(json.error)) return undefined;
  const [refreshToken, accessToken] = ['refresh_token', 'access_token'].map((name) => {
    const token = readStringField(json, name);
    return token !== undefined && hasTokenSyntax(token) ? withhold(new Secret(token)) : undefined;
  });
  if (refreshToken === undefined && accessToken === undefined) return undefined;
  const info = isJsonRecord(json.info) ? decodeInfo(json.info) : undefined;
  const rest = refreshToken === undefined ? decodeGrant({ ...json, refresh_token: null }) : undefined;
  return {
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(accessToken === undefined ? {} : { accessToken }),
    ...(info === undefined ? {} : { info }),
    ...(rest?.ok === true ? { unrenewable: rest.value } : {}),
  };
}

/** Some servers send every field in every response: null or an empty string then means that the field is absent. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/**
 * The scope of a response: empty when the response has none, undefined when the value is neither a string nor a list of
 * strings. Some servers send the scope as an array of strings.
 */
function decodeScope({ scope = '' }: JsonRecord): string | undefined {
  if (scope === null) return '';
  if (typeof scope === 'string') return scope;
  const isList = Array.isArray(scope) && scope.every((one) => typeof one === 'string');
  return isList ? scope.join(' ') : undefined;
}

/**
 * A token is visible ASCII without spaces, as an HTTP header allows (RFC 6750 §2.1), and has at most 64 KiB, because signed
 * tokens are long.
 */
export function hasTokenSyntax(text: string): boolean {
  return /^[\x21-\x7e]{1,65536}$/.test(text);
}

/** The longest accepted lifetime, about 317 years, because a later expiry would exceed the range of JavaScript dates. */
const maxLifetimeSeconds = 9_999_999_999;

/** The lifetime in a response: empty when the response has none, undefined when the value is not a positive number. */
function decodeLifetime(json: JsonRecord): Pick<TokenGrant, 'expiresIn'> | undefined {
  const value = json.expires_in;
  if (value === undefined || value === null) return {};
  // Some servers send `expires_in` as a string, with decimals if they compute it.
  const seconds =
    typeof value === 'string' && /^\d{1,10}(\.\d{1,20})?$/.test(value)
      ? Number(value)
      : readNumberField(json, 'expires_in');
  return seconds !== undefined && seconds >= 1
    ? { expiresIn: Math.min(Math.floor(seconds), maxLifetimeSeconds) }
    : undefined;
}

function decodeInfo(info: JsonRecord): AccountInfo {
  const fields = [
    ['name', readStringField(info, 'name')],
    ['email', readStringField(info, 'email')],
    ['uuid', readStringField(info, 'uuid')],
    ['teamUuid', readStringField(info, 'team_uuid')],
    ['teamName', readStringField(info, 'team_name')],
  ] as const;
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== ''));
}

/** The two scopes of the service (docs/service.md S3); any other scope requires `--any-scope`. */
const knownScopes = ['read', 'read write'] as const;

/** The words of a scope, without duplicates, sorted. An absent scope means `read` (docs/service.md S3.1). */
export function scopeWords(scope: string | undefined): readonly string[] {
  const words = (scope ?? '').split(' ').filter((word) => word !== '');
  return words.length === 0 ? ['read'] : [...new Set(words)].sort();
}

/** Two scopes are equal when they contain the same words in any order (RFC 6749 §3.3). */
export function isSameScope(a: string | undefined, b: string | undefined): boolean {
  return scopeWords(a).join(' ') === scopeWords(b).join(' ');
}

export function isKnownScope(scope: string): boolean {
  return knownScopes.some((known) => isSameScope(known, scope));
}
