import { isRecord, type JsonRecord, numberField, stringField } from '../json.ts';
import { Secret } from '../secret.ts';

/** An access token grant (spec.md §2). */
export interface TokenGrant {
  readonly accessToken: Secret;
  /** Absent in the implicit flow and with servers that issue none. */
  readonly refreshToken?: Secret;
  /** Seconds from the answer. Absent: the server did not say (RFC 6749 §5.1 lets it). */
  readonly expiresIn?: number;
  /** Absent: the server did not say, so it is the requested one (RFC 6749 §5.1). */
  readonly scope?: string;
  readonly info?: AccountInfo;
}

/** Seconds a token lives whose server does not say how long (spec.md §8); one that dies earlier is refused, and renewed then. */
export const assumedLifetimeSeconds = 2_592_000;

export interface AccountInfo {
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly teamUuid?: string;
  readonly teamName?: string;
}

export type DecodeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Decodes a successful answer of the token endpoint (https://www.rfc-editor.org/rfc/rfc6749#section-5.1). The reason never quotes a value. */
export function decodeGrant(json: unknown): DecodeResult<TokenGrant> {
  if (!isRecord(json)) return { ok: false, reason: 'the response is not a JSON object' };
  if (json.error !== undefined) return { ok: false, reason: 'the response has a success status and an error' };
  const accessToken = stringField(json, 'access_token');
  if (accessToken === undefined || !isTokenText(accessToken))
    return { ok: false, reason: 'access_token is missing or not visible ASCII' };
  if (stringField(json, 'token_type')?.toLowerCase() !== 'bearer')
    return { ok: false, reason: 'token_type is missing or not bearer' };
  const life = decodeLifetime(json);
  if (life === undefined) return { ok: false, reason: 'expires_in is not a positive number of seconds' };
  // An empty one says that there is none.
  const refreshToken = json.refresh_token === '' ? undefined : json.refresh_token;
  if (
    refreshToken !== undefined &&
    refreshToken !== null &&
    !(typeof refreshToken === 'string' && isTokenText(refreshToken))
  ) {
    return { ok: false, reason: 'refresh_token is not visible ASCII' };
  }
  const scope = decodeScope(json);
  if (scope === undefined) return { ok: false, reason: 'scope is neither a text nor a list of texts' };
  const info = isRecord(json.info) ? decodeInfo(json.info) : undefined;
  return {
    ok: true,
    value: {
      accessToken: new Secret(accessToken),
      ...(typeof refreshToken === 'string' ? { refreshToken: new Secret(refreshToken) } : {}),
      ...life,
      ...(scope === '' ? {} : { scope }),
      ...(info === undefined ? {} : { info }),
    },
  };
}

/** Empty when the server names none; undefined when it is nothing that could be compared. Some servers write a list. */
function decodeScope({ scope = '' }: JsonRecord): string | undefined {
  if (scope === null) return '';
  if (typeof scope === 'string') return scope;
  const isList = Array.isArray(scope) && scope.every((one) => typeof one === 'string');
  return isList ? scope.join(' ') : undefined;
}

/** Visible ASCII without spaces: what may stand in a header (RFC 6750 §2.1). Signed tokens of other servers are long. */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]{1,65536}$/.test(text);
}

/** Three hundred years: a later date could not be written down. */
const maxLifetimeSeconds = 9_999_999_999;

/** Empty when the server does not say; undefined when it says nothing that could be counted. */
function decodeLifetime(json: JsonRecord): Pick<TokenGrant, 'expiresIn'> | undefined {
  const value = json.expires_in;
  if (value === undefined || value === null) return {};
  // Some servers send the number as text; RFC 6749 §5.1 shows a number.
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
