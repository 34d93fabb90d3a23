import { isRecord, type JsonRecord, numberField, parseJson, stringField } from '../json.ts';
import { Secret } from '../secret.ts';

/** One session as it is stored: one item, one commit point (docs/sessions.md). */
export interface CredentialRecord {
  /** 64 random bits, new at every login. */
  readonly sid: string;
  /** Counts the refreshes of this sid; never falls. */
  readonly gen: number;
  /** 32 random bytes made at login, carried unchanged: the key that seals an interrupted refresh. */
  readonly journalKey: Secret;
  readonly accessToken: Secret;
  /** Absent in the implicit flow. */
  readonly refreshToken?: Secret;
  /** Seconds since the epoch, by the client's clock. */
  readonly expiresAt: number;
  readonly obtainedAt: number;
  readonly scope: string;
  readonly accountUuid?: string;
  readonly authOrigin: string;
  readonly baseOrigin: string;
  readonly clientId: string;
}

/** What a stored session is bound to: it is never used for anything else (contract.md §3). */
export interface SessionBinding {
  readonly authOrigin: string;
  readonly baseOrigin: string;
  readonly clientId: string;
}

/** Windows keeps at most 2560 bytes of UTF-16 in one item. */
export const maxRecordLength = 1280;

/** JSON of the record, in UTF-16 units at most `recordLimit`; the caller checks `tooLong`. */
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
      auth_origin: record.authOrigin,
      base_origin: record.baseOrigin,
      client_id: record.clientId,
    }),
    '[session]',
  );
}

/** undefined: damaged, or written by a newer version. */
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

export function isBoundTo(record: CredentialRecord, binding: SessionBinding): boolean {
  return (
    record.authOrigin === binding.authOrigin &&
    record.baseOrigin === binding.baseOrigin &&
    record.clientId === binding.clientId
  );
}

/** Seconds left; negative once expired. */
export function secondsUntilExpiry(record: CredentialRecord, nowMs: number): number {
  return record.expiresAt - Math.floor(nowMs / 1000);
}

/** A refresh is due below this (refresh.md step 1): never earlier, since each one cuts off every sibling process. */
export const refreshMarginSeconds = 300;

function optionalFields(fields: JsonRecord): { refreshToken?: Secret; accountUuid?: string } {
  const refreshToken = stringField(fields, 'refresh_token');
  const accountUuid = stringField(fields, 'account_uuid');
  return {
    ...(refreshToken === undefined ? {} : { refreshToken: new Secret(refreshToken) }),
    ...(accountUuid === undefined ? {} : { accountUuid }),
  };
}
