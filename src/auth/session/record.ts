import { compareAccounts } from '../../base/identity.ts';
import { isJsonRecord, type JsonRecord, readNumberField, readStringField, tryParseJson } from '../../base/json.ts';
import { Secret, withhold } from '../../base/secret.ts';
import { formatDuration } from '../../base/text.ts';
import type { Binding } from '../../config/settings.ts';
import { accountAndTeam, assumedLifetime, type TokenGrant, type TokenResult } from '../oauth/index.ts';
import type { Journaled, RecordCodec } from './journal.ts';

/** A session in its stored form: one item of the credential store, so that one write commits it (docs/sessions.md). */
export interface SessionRecord extends Journaled {
  /** The session id: 64 random bits, new at every login. */
  readonly sid: string;
  /** The generation of the record: 1 at login, plus 1 for each refresh. The generation never decreases. */
  readonly gen: number;
  /** The key that encrypts the journal of a refresh: 32 random bytes (base64url), created at login and never changed. */
  readonly journalKey: Secret;
  readonly accessToken: Secret;
  /** The refresh token; absent in the implicit flow. */
  readonly refreshToken?: Secret;
  /**
   * The expiry of the access token in seconds since the epoch, by the clock of this machine; `unknownExpiry` when it is not
   * known.
   */
  readonly expiresAt: number;
  readonly obtainedAt: number;
  /** The scope of the session; empty when it is not known. */
  readonly scope: string;
  readonly accountUuid?: string;
  /** UUID of the team, or `personal`; absent when no response has named the account. */
  readonly team?: string;
  /**
   * True if the access token was given to `auth login --with-token`: its scope and lifetime were in no response, and it cannot
   * be renewed.
   */
  readonly isGivenToken?: true;
  /** True if the authorization server has refused the refresh token, which is then no longer stored. */
  readonly isRefused?: true;
  /** Present if a refresh returned a grant of another account or team: the session has then ended, and its tokens are not used. */
  readonly otherGrant?: OtherGrant;
  readonly authOrigin: string;
  readonly baseOrigin: string;
  readonly clientId: string;
}

/** The account and team of the grant that ended the session. */
interface OtherGrant {
  readonly accountUuid?: string;
  readonly team?: string;
  /** Whether the grant of the other account was revoked; the record then has no refresh token. */
  readonly isRevoked: boolean;
}

/** The maximum length of a record in UTF-16 units, because Windows stores at most 2560 bytes in one keychain item. */
export const maxRecordLength = 1280;

/** Encodes a session record as JSON. The caller checks that the encoded record is not longer than `maxRecordLength`. */
export function encodeRecord(record: SessionRecord): Secret {
  return new Secret(
    JSON.stringify({
      v: 1,
      sid: record.sid,
      gen: record.gen,
      seal: record.journalKey.reveal(),
      access_token: record.accessToken.reveal(),
      refresh_token: record.refreshToken?.reveal(),
      expires_at: record.expiresAt,
      obtained_at: record.obtainedAt,
      scope: record.scope,
      account_uuid: record.accountUuid,
      team: record.team,
      given_token: record.isGivenToken,
      refused: record.isRefused,
      other_grant:
        record.otherGrant === undefined
          ? undefined
          : {
              account_uuid: record.otherGrant.accountUuid,
              team: record.otherGrant.team,
              revoked: record.otherGrant.isRevoked,
            },
      auth_origin: record.authOrigin,
      base_origin: record.baseOrigin,
      client_id: record.clientId,
    }),
    '[session]',
  );
}

/** Decodes a session record; undefined when the text is damaged or was written by a newer version. */
export function decodeRecord(text: string | Secret): SessionRecord | undefined {
  const json = tryParseJson(typeof text === 'string' ? text : text.reveal());
  if (!json.ok || !isJsonRecord(json.value) || json.value.v !== 1) return undefined;
  const fields = json.value;
  const texts = ['sid', 'seal', 'access_token', 'scope', 'auth_origin', 'base_origin', 'client_id'].map((key) =>
    readStringField(fields, key),
  );
  const [sid, seal, accessToken, scope, authOrigin, baseOrigin, clientId] = texts;
  const numbers = ['gen', 'expires_at', 'obtained_at'].map((key) => readNumberField(fields, key));
  const [gen, expiresAt, obtainedAt] = numbers;
  if (sid === undefined || seal === undefined || accessToken === undefined || scope === undefined) return undefined;
  if (authOrigin === undefined || baseOrigin === undefined || clientId === undefined) return undefined;
  if (gen === undefined || expiresAt === undefined || obtainedAt === undefined) return undefined;
  return {
    sid,
    gen,
    journalKey: new Secret(seal),
    accessToken: withhold(new Secret(accessToken)),
    ...optionalFields(fields),
    expiresAt,
    obtainedAt,
    scope,
    authOrigin,
    baseOrigin,
    clientId,
  };
}

/** The text of a session record. */
export const recordCodec: RecordCodec<SessionRecord> = {
  encode: encodeRecord,
  decode: decodeRecord,
};

export function isSameRecord(one: SessionRecord, other: SessionRecord): boolean {
  return encodeRecord(one).equals(encodeRecord(other));
}

export function belongsTo(record: SessionRecord, binding: Binding): boolean {
  return (
    record.authOrigin === binding.authOrigin &&
    record.baseOrigin === binding.baseOrigin &&
    (record.clientId === binding.clientId || (record.clientId === '' && record.isGivenToken === true))
  );
}

/** The value of an unknown expiry: the last second of the year 9999, so that the token is used until the server refuses it. */
export const unknownExpiry = 253_402_300_799;

export function isExpiryKnown({ expiresAt }: Pick<SessionRecord, 'expiresAt'>): boolean {
  return expiresAt !== unknownExpiry;
}

/** Seconds until the access token expires; negative after the expiry. */
export function secondsLeft(record: SessionRecord, nowMs: number): number {
  return record.expiresAt - Math.floor(nowMs / 1000);
}

/**
 * Number of seconds before the expiry from which the access token is refreshed: 5 minutes, or a fifth of the lifetime if that is
 * less. The access token is not refreshed earlier, because each refresh invalidates the token that other processes use.
 */
export function refreshMargin({ expiresAt, obtainedAt }: Pick<SessionRecord, 'expiresAt' | 'obtainedAt'>): number {
  return Math.min(300, Math.max(0, expiresAt - obtainedAt) / 5);
}

function optionalFields(
  fields: JsonRecord,
): Pick<SessionRecord, 'refreshToken' | 'accountUuid' | 'team' | 'isGivenToken' | 'isRefused' | 'otherGrant'> {
  const refreshToken = readStringField(fields, 'refresh_token');
  return {
    ...(refreshToken === undefined ? {} : { refreshToken: withhold(new Secret(refreshToken)) }),
    ...accountFields(fields),
    ...(fields.given_token === true ? { isGivenToken: true as const } : {}),
    ...(fields.refused === true ? { isRefused: true as const } : {}),
    ...(isJsonRecord(fields.other_grant)
      ? { otherGrant: { ...accountFields(fields.other_grant), isRevoked: fields.other_grant.revoked === true } }
      : {}),
  };
}

function accountFields(fields: JsonRecord): Pick<OtherGrant, 'accountUuid' | 'team'> {
  const [accountUuid, team] = [readStringField(fields, 'account_uuid'), readStringField(fields, 'team')];
  return { ...(accountUuid === undefined ? {} : { accountUuid }), ...(team === undefined ? {} : { team }) };
}

export type Freshness = 'valid' | 'expires_soon' | 'expired';

export function freshnessOf(record: SessionRecord, nowMs: number): Freshness {
  const left = secondsLeft(record, nowMs);
  return left <= 0 ? 'expired' : left < refreshMargin(record) ? 'expires_soon' : 'valid';
}

/** Why a session is refreshed: it expires soon, the API refused the token, or the user requested it. */
export type RefreshCause =
  | { readonly kind: 'due' }
  | { readonly kind: 'refused'; readonly token: Secret }
  | { readonly kind: 'forced'; readonly sid: string; readonly gen: number };

export function isRefreshDue(record: SessionRecord, cause: RefreshCause, nowMs: number): boolean {
  if (cause.kind === 'refused') return record.accessToken.equals(cause.token);
  if (cause.kind === 'forced') return record.sid === cause.sid && record.gen === cause.gen;
  return freshnessOf(record, nowMs) !== 'valid';
}

/**
 * Creates the session record of the next generation. `sentAt` (seconds) is the time before the request was sent, so that the
 * computed expiry is never too late. A grant of another account or team creates a record that is marked as ended but contains
 * the tokens, so that they can be revoked even after a crash.
 */
export function renewedRecord(old: SessionRecord, grant: TokenGrant, sentAt: number): SessionRecord {
  const answered = accountAndTeam(grant.info);
  if (compareAccounts(old, answered) === 'different') {
    const { refreshToken: _used, ...rest } = old;
    const { accessToken, refreshToken } = grant;
    return {
      ...rest,
      gen: old.gen + 1,
      accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      expiresAt: 0,
      obtainedAt: sentAt,
      otherGrant: { ...answered, isRevoked: false },
    };
  }
  const refreshToken = grant.refreshToken ?? old.refreshToken;
  // A response without a lifetime means that the lifetime is unchanged (RFC 6749 §5.1). It is not known after an invalid
  // response, whose record is marked as expired.
  const earlierLifetime = old.expiresAt - old.obtainedAt;
  const expiresIn = grant.expiresIn ?? (earlierLifetime > 0 ? earlierLifetime : assumedLifetime);
  return {
    ...old,
    gen: old.gen + 1,
    accessToken: grant.accessToken,
    // If the response has no new refresh token, the old one stays valid (RFC 6749 §6).
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...answered,
    expiresAt: sentAt + expiresIn,
    obtainedAt: sentAt,
    scope: grant.scope ?? old.scope,
  };
}

/**
 * Creates the record from the response to a refresh; undefined when the response contains no new token. The old refresh token
 * is invalid after the response, so a new refresh token is stored even if the rest of the response is unusable: the record is
 * then marked as expired, and the next refresh sends the new refresh token. If only the new refresh token is unusable, the record
 * has none: the old one must be discarded (RFC 6749 §6), and sending it could end the session (RFC 9700 §4.14.2).
 */
export function recordOfResponse(old: SessionRecord, answer: TokenResult, sentAt: number): SessionRecord | undefined {
  if (answer.kind === 'granted') return renewedRecord(old, answer.grant, sentAt);
  if (answer.kind !== 'malformed' || answer.partial === undefined) return undefined;
  const { accessToken = old.accessToken, unrenewable, ...rest } = answer.partial;
  if (unrenewable !== undefined) {
    const { refreshToken: _replaced, ...unchanged } = old;
    return renewedRecord(unchanged, unrenewable, sentAt);
  }
  if (rest.refreshToken === undefined) return undefined;
  return renewedRecord(old, { ...rest, accessToken, expiresIn: 0 }, sentAt);
}

/**
 * Whether a refresh that sent the refresh token of `sent` may replace the stored record. On a network file system that does not
 * share locks, another process may have stored a newer grant or another session, which must not be overwritten.
 */
export function canReplace(stored: SessionRecord | undefined, sent: SessionRecord): boolean {
  if (stored?.sid !== sent.sid || stored.gen > sent.gen) return false;
  // A grant may replace a record that is marked as ended: another process sent the same refresh token and was refused.
  const { refreshToken } = stored;
  return stored.gen < sent.gen || refreshToken === undefined || refreshToken.equals(sent.refreshToken);
}

/**
 * The record after the server rejected the refresh token: the access token stays valid until it expires, unless the API refused
 * it.
 */
export function rejectedRecord(record: SessionRecord, cause: RefreshCause, nowMs: number): SessionRecord {
  const { refreshToken, ...rest } = record;
  const ended = refreshToken === undefined ? rest : { ...rest, isRefused: true as const };
  return cause.kind === 'refused' ? { ...ended, expiresAt: Math.min(rest.expiresAt, Math.floor(nowMs / 1000)) } : ended;
}

const daySeconds = 86_400;

/**
 * Describes how long an access token is valid, in local time: `for 30 d (20 Dec)`, `for 5 h (until 14:05)`. `expiresAt`
 * is in seconds since the epoch.
 */
export function describeLifetime(expiresAt: number, nowMs: number): string {
  const left = Math.max(0, expiresAt - Math.floor(nowMs / 1000));
  const end = new Date(expiresAt * 1000);
  if (left >= 2 * daySeconds) {
    const year = end.getFullYear() === new Date(nowMs).getFullYear() ? '' : ` ${end.getFullYear()}`;
    return `for ${formatDuration(left * 1000)} (${end.getDate()} ${months[end.getMonth()]}${year})`;
  }
  const clock = [end.getHours(), end.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  return `for ${formatDuration(left * 1000)} (until ${clock})`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
