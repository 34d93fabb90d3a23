import { describeTeam, personalTeam } from '../../base/identity.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { ListView } from '../../cli/columns.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { writeProfile } from '../../config/config-file.ts';
import { knownSandboxes } from '../../config/sandboxes.ts';
import { findBinding, type ProfileSettings, profileWords, type TypedSettings } from '../../config/settings.ts';
import type { HostSystem } from '../../platform/host.ts';
import { readAccount, type SessionFlow, type StoredAccount } from './account.ts';
import type { LoginResult } from './authorize.ts';
import { flowOption, isOfSandbox, loginOf, reloginCommand, requireBinding } from './hints.ts';
import {
  describeLifetime,
  type Freshness,
  freshnessOf,
  isExpiryKnown,
  type SessionRecord,
  secondsLeft,
} from './record.ts';
import type { CommandOfSessions, SessionRuns } from './run.ts';
import type { ProfileCommand } from './sessions.ts';
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
  /** The servers of the session. */
  readonly auth_url: string;
  readonly base_url: string;
  readonly sandbox: boolean;
}

const columns: ListView<LoginReport>['columns'] = [
  { name: 'Profile', value: (row) => row.profile },
  { name: 'Name', value: (row) => row.name },
  { name: 'Email', value: (row) => row.email },
  { name: 'UUID', value: (row) => row.uuid },
  {
    name: 'Team',
    value: (row) => row.team_name ?? row.team_uuid ?? (row.uuid === undefined ? undefined : personalTeam),
  },
  { name: 'TeamUUID', value: (row) => row.team_uuid, extra: true },
  { name: 'Scope', value: (row) => row.scope },
  { name: 'ScopeVerified', value: (row) => row.scope_verified, extra: true },
  { name: 'ExpiresAt', value: (row) => row.expires_at, kind: 'time' },
  { name: 'Flow', value: (row) => row.flow },
  { name: 'Store', value: (row) => row.store },
];

export const loginFields = [
  'profile',
  'name',
  'email',
  'uuid',
  'team_name',
  'team_uuid',
  'scope',
  'scope_verified',
  'expires_at',
  'flow',
  'store',
];

/** Also the members of the report about an access token from the environment or from `token_command`. */
export const statusFields = [
  ...loginFields,
  'state',
  'expires_in',
  'pending_write',
  'store_place',
  'sandbox',
  'source',
  'auth_url',
  'base_url',
  'program',
  'renewable',
];

export const loginView: ListView<LoginReport> = { columns };

export const statusView: ListView<StatusReport> = {
  columns: [
    ...columns,
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'ExpiresIn', value: (row) => row.expires_in, extra: true },
    { name: 'PendingWrite', value: (row) => row.pending_write, extra: true },
    { name: 'StorePlace', value: (row) => row.store_place },
    { name: 'AuthURL', value: (row) => row.auth_url },
    { name: 'BaseURL', value: (row) => row.base_url },
    { name: 'Sandbox', value: (row) => row.sandbox },
  ],
};

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
    ['team_uuid', record.team === personalTeam ? undefined : (record.team ?? known?.team_uuid)],
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
  settings: ProfileSettings,
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
  settings: ProfileSettings,
): Promise<FoundStatus> {
  const binding = requireBinding(settings, config(), host.folders.config);
  const opened = await store(settings);
  const found = requireSession(await loadSession(opened, binding), settings.profile, opened.location);
  return foundStatus(host, settings, opened, found);
}

function statusOf(
  host: HostSystem,
  settings: ProfileSettings,
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
  settings: ProfileSettings,
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
    auth_url: record.authOrigin,
    base_url: record.baseOrigin,
    sandbox:
      isOfSandbox(profileName, record.authOrigin) ||
      knownSandboxes(folders.state).some(({ auth_url }) => auth_url === record.authOrigin),
  };
  const login = reloginCommand(profile, record, flowOption(report.flow, values.flow));
  return { store, stored, state, isEnded: state === 'needs_login', report, login };
}

/** Saves in the profile the options that later commands need to find and refresh the session. */
export async function saveOptions(
  command: ProfileCommand,
  settings: ProfileSettings,
  typed: TypedSettings,
): Promise<void> {
  const { auth_url, base_url, credential_store, token_params, pkce } = settings.values;
  const { globals } = command;
  const kept = {
    ...(globals.value('auth-url') === undefined || auth_url === undefined ? {} : { auth_url }),
    ...(globals.value('base-url') === undefined || base_url === undefined ? {} : { base_url }),
    ...(typed.credential_store === undefined || credential_store === undefined ? {} : { credential_store }),
    ...(typed.token_params === undefined || token_params === undefined ? {} : { token_params }),
    ...(typed.pkce === undefined || pkce === undefined ? {} : { pkce }),
  };
  if (Object.keys(kept).length === 0) return;
  await command.changeConfig((config) => {
    const profile = config.profiles.get(settings.profileName) ?? {};
    writeProfile(command.host.folders.config, config, settings.profileName, { ...profile, ...kept });
  });
}

/** Reports the login: account, scope and credential store on stderr, and the session on stdout unless the format is `table`. */
export async function reportLogin(
  command: ProfileCommand,
  settings: ProfileSettings,
  result: LoginResult,
  prompt?: string,
): Promise<void> {
  const { output } = command;
  const store = await command.store(settings);
  const { record, account } = result;
  const shown = loginReport(settings.profileName, record, account, store.kind);
  if (output.format !== 'table') await output.object(shown, loginView);
  const who = [account.name, account.email === undefined ? undefined : `<${account.email}>`]
    .filter((part) => part !== undefined)
    .join(' ');
  const team =
    account.team_name === undefined
      ? record.team === undefined
        ? ''
        : `, ${describeTeam(record.team)}`
      : `, team ${account.team_name}`;
  const lines = [
    who === '' ? 'Logged in; the server did not report the account.' : `Logged in as ${who}${team}.`,
    record.isGivenToken === true
      ? `The access token cannot be renewed, and its lifetime is not known; its scope is ${record.scope === '' ? 'not known either' : `${record.scope} (not verified)`}.`
      : `Scope ${record.scope}${account.scope_verified ? '' : ' (not verified: the implicit flow does not report the scope)'}, ${describeLifetime(record.expiresAt, command.host.clock.now())}.`,
    ...(result.isLifetimeAssumed
      ? ['The server did not report the lifetime of the access token; 30 days are assumed.']
      : []),
    ...(result.isScopeAssumed && account.scope_verified
      ? ['The server did not report the scope; the requested one is assumed.']
      : []),
    ...(result.isAccountKnown || account.flow !== 'code'
      ? []
      : ['The server did not report the account; account checks are skipped.']),
    store.kind === 'file'
      ? `The session is stored in a file with mode 0600, not in the keychain: ${store.location}`
      : `The session is stored in the keychain: ${store.location}.`,
  ];
  const { profile } = settings;
  const current = ['cloudctl auth switch', quoteShellArg(profile.name)].join(' ');
  const next = `Later commands need \`${profileWords(profile).join(' ')}\`; or make it the current profile: ${current}`;
  await output.note(profile.isDefault ? lines : [...lines, next]);
  const same = findSameAccount(command, settings, result, prompt);
  if (same !== undefined)
    await quietForJson(command).output.warn(
      `profile ${same} has the same account; for another one, sign in as it in the browser, then log in again`,
    );
  if (profile.replacedBy !== undefined)
    await quietForJson(command).output.warn(
      `this session is of ${record.authOrigin} and ${record.baseOrigin}, not of the servers of profile ${profile.name}, because of ${profile.replacedBy.join(' and ')}; later commands need the same environment`,
    );
}

/**
 * Another profile of the same servers that already has a session of this account, context and scope; with `select_account`, which
 * asks for another account, of any scope.
 */
function findSameAccount(
  command: ProfileCommand,
  { profileName }: ProfileSettings,
  { account, record }: LoginResult,
  prompt: string | undefined,
): string | undefined {
  const found = [...command.config().profiles].find(([name, { auth_url }]) => {
    if (name === profileName || auth_url !== record.authOrigin || account.email === undefined) return false;
    const other = readAccount(command.host.folders.config, name);
    if (other?.email !== account.email || other.team_uuid !== account.team_uuid) return false;
    return prompt === 'select_account' || other.scope === account.scope;
  });
  return found?.[0];
}
