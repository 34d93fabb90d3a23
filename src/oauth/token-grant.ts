import { personalAccountContext } from '../identity.ts';
import { isRecord, type JsonRecord, numberField, stringField } from '../json.ts';
import { Secret } from '../secret.ts';

/** An access token grant (spec.md §2). */
export interface TokenGrant {
  readonly accessToken: Secret;
  /** Absent in the implicit flow and with servers that issue none. */
  readonly refreshToken?: Secret;
  /** Lifetime in seconds. Absent when the response names none, which RFC 6749 §5.1 allows. */
  readonly expiresIn?: number;
  /** Absent when the response names none: the requested scope was granted (RFC 6749 §5.1). */
  readonly scope?: string;
  readonly info?: AccountInfo;
}

/** The usable parts of an answer that is not a valid grant, but contains a new refresh token. */
export interface PartialGrant {
  readonly refreshToken: Secret;
  readonly accessToken?: Secret;
  readonly info?: AccountInfo;
}

/** Lifetime in seconds if the response names none (spec.md §8). A token that expires earlier is refused and then refreshed. */
export const assumedLifetimeSeconds = 2_592_000;

export interface AccountInfo {
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly teamUuid?: string;
  readonly teamName?: string;
}

/** The account and the context of a grant. A response that names an account without a team is of its personal context (spec.md §2). */
export function accountContextOf(info: AccountInfo | undefined): { accountUuid?: string; team?: string } {
  const { uuid, teamUuid } = info ?? {};
  const team = teamUuid ?? (uuid === undefined ? undefined : personalAccountContext);
  return { ...(uuid === undefined ? {} : { accountUuid: uuid }), ...(team === undefined ? {} : { team }) };
}

export type DecodeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Decodes a successful response of the token endpoint (https://www.rfc-editor.org/rfc/rfc6749#section-5.1). The reason quotes no value. */
export function decodeGrant(json: unknown): DecodeResult<TokenGrant> {
  if (!isRecord(json)) return { ok: false, reason: 'the response is not a JSON object' };
  if (json.error !== undefined) return { ok: false, reason: 'the response has a success status and an error' };
  const accessToken = stringField(json, 'access_token');
  if (accessToken === undefined || !isTokenText(accessToken))
    return { ok: false, reason: 'access_token is missing or not visible ASCII' };
  if (stringField(json, 'token_type')?.toLowerCase() !== 'bearer')
    return { ok: false, reason: 'token_type is missing or not bearer' };
  const lifetime = decodeLifetime(json);
  if (lifetime === undefined) return { ok: false, reason: 'expires_in is not a positive number of seconds' };
  // An empty refresh token means that there is none.
  const refreshToken = json.refresh_token === '' ? undefined : json.refresh_token;
  if (
    refreshToken !== undefined &&
    refreshToken !== null &&
    !(typeof refreshToken === 'string' && isTokenText(refreshToken))
  ) {
    return { ok: false, reason: 'refresh_token is not visible ASCII' };
  }
  const scope = decodeScope(json);
  if (scope === undefined) return { ok: false, reason: 'scope is neither a string nor an array of strings' };
  const info = isRecord(json.info) ? decodeInfo(json.info) : undefined;
  return {
    ok: true,
    value: {
      accessToken: new Secret(accessToken),
      ...(typeof refreshToken === 'string' ? { refreshToken: new Secret(refreshToken) } : {}),
      ...lifetime,
      ...(scope === '' ? {} : { scope }),
      ...(info === undefined ? {} : { info }),
    },
  };
}

/** undefined when the answer contains an error, or no refresh token that can be sent. */
export function decodePartialGrant(json: unknown): PartialGrant | undefined {
  if (!isRecord(json) || json.error !== undefined) return undefined;
  const [refreshToken, accessToken] = [stringField(json, 'refresh_token'), stringField(json, 'access_token')];
  if (refreshToken === undefined || !isTokenText(refreshToken)) return undefined;
  const info = isRecord(json.info) ? decodeInfo(json.info) : undefined;
  return {
    refreshToken: new Secret(refreshToken),
    ...(accessToken === undefined || !isTokenText(accessToken) ? {} : { accessToken: new Secret(accessToken) }),
    ...(info === undefined ? {} : { info }),
  };
}

/** Empty when the response names no scope; undefined when it is not a string. Some servers send an array of strings. */
function decodeScope({ scope = '' }: JsonRecord): string | undefined {
  if (scope === null) return '';
  if (typeof scope === 'string') return scope;
  const isList = Array.isArray(scope) && scope.every((one) => typeof one === 'string');
  return isList ? scope.join(' ') : undefined;
}

/** Visible ASCII without spaces, as a header allows (RFC 6750 §2.1); at most 64 KiB, because signed tokens are long. */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]{1,65536}$/.test(text);
}

/** About 317 years: a later expiry exceeds the range of dates. */
const maxLifetimeSeconds = 9_999_999_999;

/** Empty when the response names no lifetime; undefined when it is not a positive number. */
function decodeLifetime(json: JsonRecord): Pick<TokenGrant, 'expiresIn'> | undefined {
  const value = json.expires_in;
  if (value === undefined || value === null) return {};
  // Some servers send the number as a string.
  const seconds =
    typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : numberField(json, 'expires_in');
  return seconds !== undefined && seconds >= 1
    ? { expiresIn: Math.min(Math.floor(seconds), maxLifetimeSeconds) }
    : undefined;
}

function decodeInfo(info: JsonRecord): AccountInfo {
  const fields = [
    ['name', stringField(info, 'name')],
    ['email', stringField(info, 'email')],
    ['uuid', stringField(info, 'uuid')],
    ['teamUuid', stringField(info, 'team_uuid')],
    ['teamName', stringField(info, 'team_name')],
  ] as const;
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== ''));
}
