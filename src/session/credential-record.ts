import type { ProfileSettings } from '../config/settings.ts';
import { isRecord, type JsonRecord, numberField, parseJson, stringField } from '../json.ts';
import { Secret } from '../secret.ts';

/** A session as it is stored: one item, so that one write commits it (docs/sessions.md). */
export interface CredentialRecord {
  /** 64 random bits, new at every login. */
  readonly sid: string;
  /** Generation: 1 at login, plus 1 for each refresh. It never decreases. */
  readonly gen: number;
  /** 32 random bytes (base64url), created at login and never changed: the key that encrypts the journal of a refresh. */
  readonly journalKey: Secret;
  readonly accessToken: Secret;
  /** Absent in the implicit flow. */
  readonly refreshToken?: Secret;
  /** Seconds since the epoch, by the clock of this machine; `unknownExpiry` when nothing is known. */
  readonly expiresAt: number;
  readonly obtainedAt: number;
  /** Empty when it is not known. */
  readonly scope: string;
  readonly accountUuid?: string;
  /** UUID of the team, or `personal`; absent when no response has named the account since the record got this field. */
  readonly team?: string;
  /** The access token was given to `auth login --with-token`: no response named its scope or its lifetime, and nothing renews it. */
  readonly isGivenToken?: true;
  /** A refresh was answered with a grant of another account or team: the session has ended, and its tokens are not used. */
  readonly otherGrant?: GrantOfOtherAccount;
  readonly authOrigin: string;
  readonly baseOrigin: string;
  readonly clientId: string;
}

/** Whose grant ended the session. */
export interface GrantOfOtherAccount {
  readonly accountUuid?: string;
  readonly team?: string;
  /** The record then has no refresh token. */
  readonly isRevoked: boolean;
}

/** The servers and the application that a stored session belongs to: it is sent to no others (contract.md §3). */
export interface SessionBinding {
  readonly authOrigin: string;
  readonly baseOrigin: string;
  readonly clientId: string;
}

/** In UTF-16 units: Windows stores at most 2560 bytes in one item. */
export const maxRecordLength = 1280;

/** The record as JSON. The caller checks that its length is at most `maxRecordLength`. */
export function encodeRecord(record: CredentialRecord): Secret {
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

/** undefined when the text is damaged or was written by a newer version. */
export function decodeRecord(text: string): CredentialRecord | undefined {
  const json = parseJson(text);
  if (!json.ok || !isRecord(json.value) || json.value.v !== 1) return undefined;
  const fields = json.value;
  const texts = ['sid', 'seal', 'access_token', 'scope', 'auth_origin', 'base_origin', 'client_id'].map((key) =>
    stringField(fields, key),
  );
  const [sid, seal, accessToken, scope, authOrigin, baseOrigin, clientId] = texts;
  const numbers = ['gen', 'expires_at', 'obtained_at'].map((key) => numberField(fields, key));
  const [gen, expiresAt, obtainedAt] = numbers;
  if (sid === undefined || seal === undefined || accessToken === undefined || scope === undefined) return undefined;
  if (authOrigin === undefined || baseOrigin === undefined || clientId === undefined) return undefined;
  if (gen === undefined || expiresAt === undefined || obtainedAt === undefined) return undefined;
  return {
    sid,
    gen,
    journalKey: new Secret(seal),
    accessToken: new Secret(accessToken),
    ...optionalFields(fields),
    expiresAt,
    obtainedAt,
    scope,
    authOrigin,
    baseOrigin,
    clientId,
  };
}

export function isSameCredentialRecord(one: CredentialRecord, other: CredentialRecord): boolean {
  return encodeRecord(one).reveal() === encodeRecord(other).reveal();
}

export function isBoundTo(record: CredentialRecord, binding: SessionBinding): boolean {
  return (
    record.authOrigin === binding.authOrigin &&
    record.baseOrigin === binding.baseOrigin &&
    record.clientId === binding.clientId
  );
}

/** The last second of the year 9999. Earlier versions read it as an expiry, and use the token until it is refused. */
export const unknownExpiry = 253_402_300_799;

export function isExpiryKnown({ expiresAt }: Pick<CredentialRecord, 'expiresAt'>): boolean {
  return expiresAt !== unknownExpiry;
}

/** Seconds until the access token expires; negative afterwards. */
export function secondsUntilExpiry(record: CredentialRecord, nowMs: number): number {
  return record.expiresAt - Math.floor(nowMs / 1000);
}

/** With fewer seconds left a refresh is due. Never earlier, because each refresh invalidates the token of other processes. */
export const refreshMarginSeconds = 300;

function optionalFields(
  fields: JsonRecord,
): Pick<CredentialRecord, 'refreshToken' | 'accountUuid' | 'team' | 'isGivenToken' | 'otherGrant'> {
  const refreshToken = stringField(fields, 'refresh_token');
  return {
    ...(refreshToken === undefined ? {} : { refreshToken: new Secret(refreshToken) }),
    ...accountFields(fields),
    ...(fields.given_token === true ? { isGivenToken: true as const } : {}),
    ...(isRecord(fields.other_grant)
      ? { otherGrant: { ...accountFields(fields.other_grant), isRevoked: fields.other_grant.revoked === true } }
      : {}),
  };
}

function accountFields(fields: JsonRecord): Pick<GrantOfOtherAccount, 'accountUuid' | 'team'> {
  const [accountUuid, team] = [stringField(fields, 'account_uuid'), stringField(fields, 'team')];
  return { ...(accountUuid === undefined ? {} : { accountUuid }), ...(team === undefined ? {} : { team }) };
}

/** Bytes to reserve for the answer to a refresh of this session: 4 KiB, or as many blocks as twice its record needs. */
export function journalReservationBytes(record: CredentialRecord): number {
  const block = 4096;
  return block * Math.ceil((2 * encodeRecord(record).reveal().length) / block);
}

/** The servers and the application of a profile; undefined when a setting is missing. Here, because the fast path of `auth token` needs it. */
export function sessionBindingOf(settings: Pick<ProfileSettings, 'values'>): SessionBinding | undefined {
  const { auth_url: authOrigin, base_url: baseOrigin, client_id: clientId } = settings.values;
  if (authOrigin === undefined || baseOrigin === undefined || clientId === undefined) return undefined;
  return { authOrigin, baseOrigin, clientId };
}
