import { personalTeamValue } from '../../base/identity.ts';
import { readKnownSandboxes } from '../../config/sandbox-urls-and-credentials.ts';
import { findBinding, type ResolvedProfileSettings } from '../../config/settings.ts';
import type { HostSystem } from '../../platform/host.ts';
import { readAccount, type SessionFlow, type StoredAccount } from './account.ts';
import { flowOption, isOfSandbox, loginOf, reloginCommand, requireBinding } from './hints.ts';
import { type Freshness, freshnessOf, isExpiryKnown, type SessionRecord, secondsLeft } from './record.ts';
import type { CommandOfSessions, SessionRuns } from './run.ts';
import type { CredentialStore, StoreKind } from './store.ts';
import { type FoundSession, loadSession, requireSession, type StoredSession } from './stored.ts';

type ReportedState = Freshness | 'in_doubt' | 'needs_login';

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

function expiryOf(record: SessionRecord): string | null {
  return isExpiryKnown(record) ? new Date(record.expiresAt * 1000).toISOString() : null;
}

/** What is shown of the session of a profile. */
export interface SessionStatus {
  readonly stored: StoredSession;
  /** `logged_out`: nothing is stored; `unknown`: the credential store could not be read. */
  readonly state: ReportedState | 'logged_out' | 'unknown';
  /** Whether a record is stored whose tokens are of no more use. */
  readonly isEnded: boolean;
  /** Present if the profile has a session. */
  readonly report?: StatusReport;
  /** The command that logs in again, in backquotes; to the same account if it is known. */
  readonly login: string;
}

interface FoundStatus extends SessionStatus {
  readonly store: CredentialStore;
  readonly stored: FoundSession;
  readonly report: StatusReport;
}

type StatusCommand = Pick<CommandOfSessions, 'host'> & Pick<SessionRuns, 'store'>;

/** Reads the session of a profile without sending anything; undefined if the profile names no servers. */
export async function readStatus(
  { host, store }: StatusCommand,
  settings: ResolvedProfileSettings,
  limit?: number,
): Promise<SessionStatus | undefined> {
  const binding = findBinding(settings);
  if (binding === undefined) return undefined;
  const opened = await store(settings, limit);
  return statusOf(host, settings, opened, await loadSession(opened, binding));
}

/** The same of a profile that must have a session. Throws `not_logged_in`, `needs_login` or `keychain_unavailable`. */
export async function requireStatus(
  { host, store, config }: StatusCommand & Pick<CommandOfSessions, 'config'>,
  settings: ResolvedProfileSettings,
): Promise<FoundStatus> {
  const binding = requireBinding(settings, config(), host.folders.config);
  const opened = await store(settings);
  const found = requireSession(await loadSession(opened, binding), settings.profile, opened.location);
  return foundStatus(host, settings, opened, found);
}

function statusOf(
  host: HostSystem,
  settings: ResolvedProfileSettings,
  store: CredentialStore,
  stored: StoredSession,
): SessionStatus {
  if (stored.kind === 'found') return foundStatus(host, settings, store, stored);
  const isLoggedOut = stored.kind === 'absent' && !stored.orphaned;
  return {
    stored,
    state: stored.kind === 'unavailable' ? 'unknown' : isLoggedOut ? 'logged_out' : 'needs_login',
    isEnded: stored.kind === 'elsewhere' && reportedState(stored.record, host.clock.now()) === 'needs_login',
    login: loginOf(settings, host.folders.config),
  };
}

function foundStatus(
  { clock, folders }: HostSystem,
  settings: ResolvedProfileSettings,
  store: CredentialStore,
  stored: FoundSession,
): FoundStatus {
  const { record, inDoubt, pending } = stored;
  const { profile, profileName, values } = settings;
  const state = reportedState(record, clock.now(), inDoubt);
  const report = {
    ...loginReport(profileName, record, readAccount(folders.config, profileName), store.kind),
    state,
    pending_write: pending,
    expires_in: isExpiryKnown(record) ? Math.max(0, secondsLeft(record, clock.now())) : null,
    store_place: store.location,
    sandbox:
      isOfSandbox(profileName, record.authOrigin) ||
      readKnownSandboxes(folders.state).some(({ auth_url }) => auth_url === record.authOrigin),
  };
  const login = reloginCommand(profile, record, flowOption(report.flow, values.flow));
  return { store, stored, state, isEnded: state === 'needs_login', report, login };
}
