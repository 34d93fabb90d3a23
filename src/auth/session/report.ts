import { personalTeamValue } from '../../base/identity.ts';
import { formatDuration } from '../../base/text.ts';
import type { SessionFlow, StoredAccount } from './account.ts';
import { type Freshness, freshnessOf, isExpiryKnown, type SessionRecord, secondsLeft } from './record.ts';
import type { StoreKind } from './store.ts';

export type ReportedState = Freshness | 'in_doubt' | 'needs_login';

/** The JSON output of `auth login` and `auth status`, which contains no token. */
export interface LoginReport {
  readonly profile: string;
  readonly name?: string;
  readonly email?: string;
  readonly uuid?: string;
  readonly team_name?: string;
  readonly team_uuid?: string;
  /** null if the scope is not known, as for a token from `auth login --with-token`. */
  readonly scope: string | null;
  readonly scope_verified: boolean;
  /** The expiry in ISO 8601; null if it is not known. */
  readonly expires_at: string | null;
  readonly flow: SessionFlow;
  readonly store: StoreKind;
}

export interface StatusReport extends LoginReport {
  readonly state: ReportedState;
  readonly pending_write: boolean;
  /** Seconds until the access token expires; 0 after the expiry, null if the expiry is not known. */
  readonly expires_in: number | null;
  readonly store_place: string;
  readonly sandbox: boolean;
}

export function loginReport(
  profile: string,
  record: SessionRecord,
  account: StoredAccount | undefined,
  store: StoreKind,
): LoginReport {
  const known = account?.sid === record.sid ? account : undefined;
  const fields = [
    ['name', known?.name],
    ['email', known?.email],
    ['uuid', record.accountUuid],
    ['team_name', known?.team_name],
    ['team_uuid', record.team === personalTeamValue ? undefined : (record.team ?? known?.team_uuid)],
  ] as const;
  const recorded = record.refreshToken === undefined ? 'implicit' : 'code';
  const flow = record.isGivenToken === true ? 'token' : (known?.flow ?? recorded);
  return {
    profile,
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    scope: record.scope === '' ? null : record.scope,
    scope_verified: known?.scope_verified ?? flow === 'code',
    expires_at: expiryOf(record),
    flow,
    store,
  };
}

/**
 * `expired`: the access token has expired and the next command refreshes the session. `needs_login`: the access token has
 * expired and the session has no refresh token. `in_doubt`: the last refresh was interrupted, and the next command checks
 * whether the server processed it.
 */
export function reportedState(record: SessionRecord, nowMs: number, inDoubt = false): ReportedState {
  const state = freshnessOf(record, nowMs);
  if (record.otherGrant !== undefined) return 'needs_login';
  if (state === 'expired' && record.refreshToken === undefined) return 'needs_login';
  return inDoubt ? 'in_doubt' : state;
}

export function reportedSecondsLeft(record: SessionRecord, nowMs: number): number | null {
  if (!isExpiryKnown(record)) return null;
  return Math.max(0, secondsLeft(record, nowMs));
}

export function describeExpiry(record: SessionRecord): string {
  const end = expiryOf(record);
  return end === null ? 'lifetime not known' : `until ${end}`;
}

function expiryOf(record: SessionRecord): string | null {
  return isExpiryKnown(record) ? new Date(record.expiresAt * 1000).toISOString() : null;
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
