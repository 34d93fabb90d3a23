import {
  describeLifetime,
  type LoginReport,
  type LoginResult,
  loginReport,
  readAccount,
  type SessionStatus,
  type StatusReport,
} from '../../auth/session/index.ts';
import { describeTeam, personalTeamValue } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { ListView } from '../../cli/columns.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { writeProfile } from '../../config/config-file.ts';
import {
  commandFor,
  formatProfileOption,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

const columns: ListView<LoginReport>['columns'] = [
  { name: 'Profile', value: (row) => row.profile },
  { name: 'Name', value: (row) => row.name },
  { name: 'Email', value: (row) => row.email },
  { name: 'UUID', value: (row) => row.uuid },
  {
    name: 'Team',
    value: (row) => row.team_name ?? row.team_uuid ?? (row.uuid === undefined ? undefined : personalTeamValue),
  },
  { name: 'TeamUUID', value: (row) => row.team_uuid, extra: true },
  { name: 'Scope', value: (row) => row.scope },
  { name: 'ScopeVerified', value: (row) => row.scope_verified, extra: true },
  { name: 'ExpiresAt', value: (row) => row.expires_at, kind: 'time' },
  { name: 'Flow', value: (row) => row.flow },
  { name: 'Store', value: (row) => row.store },
];

export const loginSessionFields = [
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
export const loginStatusFields = [
  ...loginSessionFields,
  'state',
  'expires_in',
  'pending_write',
  'store_place',
  'sandbox',
  'source',
  'base_url',
  'program',
  'renewable',
];

export const loginSessionListView: ListView<LoginReport> = { columns };

export const loginStatusListView: ListView<StatusReport> = {
  columns: [
    ...columns,
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'ExpiresIn', value: (row) => row.expires_in, extra: true },
    { name: 'PendingWrite', value: (row) => row.pending_write, extra: true },
    { name: 'StorePlace', value: (row) => row.store_place },
    { name: 'Sandbox', value: (row) => row.sandbox },
  ],
};

/**
 * In a terminal a valid session is replaced only after confirmation; a script replaces it without confirmation. A session that
 * this login cannot revoke, because it is of other servers or cannot be read, is named in any case.
 */
export async function confirmSessionReplacement(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  status: SessionStatus | undefined,
  args: ParsedArgs,
): Promise<boolean> {
  const found = describeReplacedSession(settings, status);
  if (found === undefined) return true;
  if (!args.has('force') && context.prompts.interactive)
    return context.prompts.confirm({ message: `${found.text} Log in again?`, default: true, option: '--force' });
  if (found.hint !== undefined) await context.output.warn(`${found.text} ${found.hint}`);
  else if (!args.has('force') && !args.has('with-token'))
    await context.output.note(`${found.text} Its session stays until this login is complete.`);
  return true;
}

function describeReplacedSession(
  { profile, profileName }: ResolvedProfileSettings,
  status: SessionStatus | undefined,
): { readonly text: string; readonly hint?: string } | undefined {
  if (status === undefined || status.isEnded) return undefined;
  const { stored } = status;
  if (stored.kind === 'damaged')
    return {
      text: `The stored session of profile ${profileName} cannot be read, so this login cannot revoke its tokens.`,
      hint: 'They stay valid until they expire.',
    };
  if (stored.kind !== 'found' && stored.kind !== 'elsewhere') return undefined;
  if (stored.kind === 'found') return { text: `Profile ${profileName} is already logged in.` };
  const { record } = stored;
  const application = record.clientId === '' ? 'no client ID' : `client ID ${sanitizeLine(record.clientId)}`;
  return {
    text: `Profile ${profileName} is logged in at ${record.authOrigin} (API ${record.baseOrigin}) with ${application}. This login replaces that session without revoking its tokens.`,
    hint: `To revoke them, run ${commandFor(profile, 'auth logout')} before the login.`,
  };
}

/** Saves in the profile the options that later commands need to find and refresh the session. */
export async function saveLoginOptionsInProfile(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  typed: ProfileSettingsFromOptions,
): Promise<void> {
  const { auth_url, base_url, credential_store, token_params, pkce } = settings.values;
  const globals = context.globals;
  const kept = {
    ...(globals.value('auth-url') === undefined || auth_url === undefined ? {} : { auth_url }),
    ...(globals.value('base-url') === undefined || base_url === undefined ? {} : { base_url }),
    ...(typed.credential_store === undefined || credential_store === undefined ? {} : { credential_store }),
    ...(typed.token_params === undefined || token_params === undefined ? {} : { token_params }),
    ...(typed.pkce === undefined || pkce === undefined ? {} : { pkce }),
  };
  if (Object.keys(kept).length === 0) return;
  await context.changeConfig((config) => {
    const profile = config.profiles.get(settings.profileName) ?? {};
    writeProfile(context.host.folders.config, config, settings.profileName, { ...profile, ...kept });
  });
}

/** Reports the login: account, scope and credential store on stderr, and the session on stdout unless the format is `table`. */
export async function reportLogin(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  result: LoginResult,
  prompt?: string,
): Promise<void> {
  const { output } = context;
  const store = await context.store(settings);
  const { record, account } = result;
  const shown = loginReport(settings.profileName, record, account, store.kind);
  if (output.format !== 'table') await output.object(shown, loginSessionListView);
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
      : `Scope ${record.scope}${account.scope_verified ? '' : ' (not verified: the implicit flow does not report the scope)'}, ${describeLifetime(record.expiresAt, context.host.clock.now())}.`,
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
  const next = `Later commands need \`${formatProfileOption(profile).join(' ')}\`; or make it the current profile: ${current}`;
  await output.note(profile.isDefault ? lines : [...lines, next]);
  const same = findSameAccount(context, settings, result, prompt);
  if (same !== undefined)
    await quietForJson(context).output.warn(
      `profile ${same} has the same account; for another one, sign in as it in the browser, then log in again`,
    );
  if (profile.replacedBy !== undefined)
    await quietForJson(context).output.warn(
      `this session is of ${record.authOrigin} and ${record.baseOrigin}, not of the servers of profile ${profile.name}, because of ${profile.replacedBy.join(' and ')}; later commands need the same environment`,
    );
}

/**
 * Another profile of the same servers that already has a session of this account, context and scope; with `select_account`, which
 * asks for another account, of any scope.
 */
function findSameAccount(
  context: CommandContext,
  { profileName }: ResolvedProfileSettings,
  { account, record }: LoginResult,
  prompt: string | undefined,
): string | undefined {
  const found = [...context.config().profiles].find(([name, { auth_url }]) => {
    if (name === profileName || auth_url !== record.authOrigin || account.email === undefined) return false;
    const other = readAccount(context.host.folders.config, name);
    if (other?.email !== account.email || other.team_uuid !== account.team_uuid) return false;
    return prompt === 'select_account' || other.scope === account.scope;
  });
  return found?.[0];
}
