import { describeLifetime, type LoginResult, loginReport } from '../../auth/session/index.ts';
import { describeTeam } from '../../base/identity.ts';
import { quietForJson } from '../../cli/command-io.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { writeProfile } from '../../config/config-file.ts';
import {
  formatProfileOption,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { loginSessionListView } from './session-view.ts';

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
  if (profile.replacedBy !== undefined)
    await quietForJson(context).output.warn(
      `this session is of ${record.authOrigin} and ${record.baseOrigin}, not of the servers of profile ${profile.name}, because of ${profile.replacedBy.join(' and ')}; later commands need the same environment`,
    );
}
