import { personalTeamValue } from '../../base/identity.ts';
import { formatDuration } from '../../base/text.ts';
import type { LoggedInAccount, LoginSessionFlow } from './account.ts';
import {
  type AccessTokenExpiryState,
  type CredentialRecord,
  computeTokenSecondsLeft,
  getTokenFreshness,
  isTokenExpiryKnown,
} from './record.ts';
import type { StoreKind } from './store.ts';

export type ReportedSessionState = AccessTokenExpiryState | 'in_doubt' | 'needs_login';

/** The JSON output of `auth login` and `auth status`, which contains no token. */
export interface LoginSessionReport {
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
  readonly flow: LoginSessionFlow;
  readonly store: StoreKind;
}

export interface LoginStatusReport extends LoginSessionReport {
  readonly state: ReportedSessionState;
  readonly pending_write: boolean;
  /** Seconds until the access token expires; 0 after the expiry, null if the expiry is not known. */
  readonly expires_in: number | null;
  readonly store_place: string;
  readonly sandbox: boolean;
}

export function buildLoginSessionReport(
  profile: string,
  record: CredentialRecord,
  account: LoggedInAccount | undefined,
  store: StoreKind,
): LoginSessionReport {
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
export function determineReportedSessionState(
  record: CredentialRecord,
  nowMs: number,
  inDoubt = false,
): ReportedSessionState {
  const state = getTokenFreshness(record, nowMs);
  if (record.otherGrant !== undefined) return 'needs_login';
  if (state === 'expired' && record.refreshToken === undefined) return 'needs_login';
  return inDoubt ? 'in_doubt' : state;
}

export function computeReportedTokenSecondsLeft(record: CredentialRecord, nowMs: number): number | null {
  if (!isTokenExpiryKnown(record)) return null;
  return Math.max(0, computeTokenSecondsLeft(record, nowMs));
}

export function formatTokenExpiry(record: CredentialRecord): string {
  const end = expiryOf(record);
  return end === null ? 'lifetime not known' : `until ${end}`;
}

function expiryOf(record: CredentialRecord): string | null {
  return isTokenExpiryKnown(record) ? new Date(record.expiresAt * 1000).toISOString() : null;
}

const daySeconds = 86_400;

/**
 * Describes how long an access token is valid, in local time: `for 30 d (20 Dec)`, `for 5 h (until 14:05)`. `expiresAt`
 * is in seconds since the epoch.
 */
export function describeTokenLifetime(expiresAt: number, nowMs: number): string {
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
