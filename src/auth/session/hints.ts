import type { RefusedHints } from '../../api/api-response.ts';
import { CliError } from '../../base/errors.ts';
import { isTeam } from '../../base/identity.ts';
import { quoteShellArg } from '../../base/text.ts';
import { nearestWord } from '../../cli/values.ts';
import type { ConfigFile } from '../../config/config-file.ts';
import { settingSpecs } from '../../config/profile.ts';
import { knownSandboxes } from '../../config/sandboxes.ts';
import {
  type Binding,
  commandFor,
  findBinding,
  type ProfileReference,
  type ProfileSettings,
  requireNamedProfile,
} from '../../config/settings.ts';
import type { HostSystem } from '../../platform/host.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import { isKnownScope, isSameScope, type OAuthFlow, type TokenPlacement } from '../oauth/index.ts';
import { readAccount, type SessionFlow } from './account.ts';

/** The command that changes how the client credentials are sent, for a server that did not find them in the request. */
export function switchCommand(profile: ProfileReference, tokenParams: TokenPlacement): string {
  return commandFor(profile, `config set token_params ${tokenParams === 'body' ? 'basic' : 'body'}`);
}

/**
 * The command-line options that request the scope, quoted for a shell; empty if the scope contains characters that a scope
 * cannot contain (RFC 6749 §3.3), or a backquote, which would end the command within the hint.
 */
export function scopeOption(scope: string): readonly string[] {
  if (!/^[\x20-\x7e]+$/.test(scope) || /["\\`]/.test(scope)) return [];
  const any = isKnownScope(scope) ? [] : ['--any-scope'];
  // Double quotes also work in cmd.exe, but protect only from the space.
  return [`--scope ${/^[\w.: -]* [\w.: -]*$/.test(scope) ? `"${scope}"` : quoteShellArg(scope)}`, ...any];
}

/** The `--flow` option for a login with the same flow; empty if this flow is already the flow of the profile. */
export function flowOption(flow: SessionFlow | undefined, profileFlow: OAuthFlow = 'code'): readonly string[] {
  if (flow === 'token') return [withTokenOption];
  return flow === undefined || flow === profileFlow ? [] : [`--flow ${flow}`];
}

export const withTokenOption = '--with-token';

/** The option that requires a context, `personal` or the UUID of a team; empty if the context is not known. */
function teamOption(team: string | undefined): readonly string[] {
  return team !== undefined && isTeam(team) ? [`--team ${team}`] : [];
}

/** The option that requires an account: without it, a repeated login would accept any. */
function accountOption(hint: string | undefined): readonly string[] {
  const prefix = accountPrefix(hint);
  return prefix === undefined ? [] : [`--account-hint ${prefix}`];
}

/** The options that request a scope; empty for the default scope `read`. */
export function scopeUnlessDefault(scope: string | undefined): readonly string[] {
  return scope === undefined || isSameScope(scope, 'read') ? [] : scopeOption(scope);
}

/** Commands that repeat a failed login, in backquotes. */
export interface RetryCommands {
  readonly flow: OAuthFlow;
  /** Repeats the login with the same options. */
  readonly sameRequest: string;
  /** Repeats the login with `token_params` of the profile, for a hint that changes this setting first. */
  readonly profileTokenParams: string;
  /** Repeats the login and accepts a grant with another scope. */
  readonly acceptAnyScope: string;
  /** Repeats the login with the other flow. */
  readonly otherFlow: string;
  /** Repeats the login with a page that asks for the account. */
  readonly chooseAccount: string;
}

/**
 * `profileFlow` is the flow of a login without `--flow`; `typed` are the other options of the login, such as `--no-pkce` and
 * `--token-params body`, each with its quoted value.
 */
export function loginRetries(
  profile: ProfileReference,
  {
    flow,
    scope,
    team,
    accountHint,
  }: {
    readonly flow: OAuthFlow;
    readonly scope: string | undefined;
    readonly team?: string | undefined;
    readonly accountHint?: string | undefined;
  },
  profileFlow: OAuthFlow | undefined,
  typed: readonly string[] = [],
): RetryCommands {
  const command = (wanted: OAuthFlow, options: readonly string[]): string => {
    const words = [
      'auth login',
      ...flowOption(wanted, profileFlow),
      ...scopeUnlessDefault(scope),
      // The implicit flow has neither `--account-hint` nor `--team` nor `--prompt`.
      ...(wanted === 'implicit' ? [] : [...accountOption(accountHint), ...teamOption(team)]),
      ...options.filter((option) => wanted !== 'implicit' || !option.startsWith('--prompt ')),
    ];
    return commandFor(profile, words.join(' '));
  };
  const accept = '--accept-scope';
  return {
    flow,
    sameRequest: command(flow, typed),
    profileTokenParams: command(
      flow,
      typed.filter((option) => !option.startsWith('--token-params ')),
    ),
    acceptAnyScope: command(flow, typed.includes(accept) ? typed : [...typed, accept]),
    otherFlow: command(flow === 'code' ? 'implicit' : 'code', typed),
    chooseAccount: command(flow, [
      ...typed.filter((option) => !option.startsWith('--prompt ')),
      '--prompt select_account',
    ]),
  };
}

/** The first 6 characters of an account's UUID (docs/service.md S4.12). */
export function accountPrefix(uuid: string | undefined): string | undefined {
  const hint = uuid?.slice(0, 6).toLowerCase();
  return hint !== undefined && /^[0-9a-f]{6}$/.test(hint) ? hint : undefined;
}

/** The known properties of a session that has ended. */
export interface EndedSession {
  readonly isGivenToken?: true;
  readonly scope: string;
  readonly accountUuid?: string | undefined;
  readonly team?: string | undefined;
}

/**
 * The command that logs in again to the same account, context and scope. It does not ask for a login without a page, because
 * the server refuses that after the authorization of the application was revoked (docs/service.md S4.10).
 */
export function reloginCommand(
  profile: ProfileReference,
  session: EndedSession | undefined,
  flow: readonly string[],
): string {
  if (session?.isGivenToken === true) return loginCommand(profile, undefined, [withTokenOption]);
  const hint = accountPrefix(session?.accountUuid);
  if (session === undefined || hint === undefined) return loginCommand(profile, session?.scope, flow);
  const words = [
    'auth login',
    ...flow,
    `--account-hint ${hint}`,
    ...teamOption(session.team),
    ...scopeOption(session.scope),
  ];
  return commandFor(profile, words.join(' '));
}

/** Formats the command that logs in. The command contains `scope` only if it differs from the default scope. */
export function loginCommand(profile: ProfileReference, scope?: string, flow: readonly string[] = []): string {
  const how = profile.isTokenOnly === true ? [withTokenOption] : flow;
  return commandFor(profile, ['auth login', ...how, ...scopeUnlessDefault(scope)].join(' '));
}

/** The same with the flow of the last login, whose account file is in `configFolder`. */
export function loginOf(settings: ProfileSettings, configFolder: string, scope?: string): string {
  const { profile, profileName, values } = settings;
  return loginCommand(profile, scope, flowOption(readAccount(configFolder, profileName)?.flow, values.flow));
}

/** The servers and the application of a profile. Throws `not_logged_in` or `profile_unknown` when a required setting is missing. */
export function requireBinding(settings: ProfileSettings, config: ConfigFile, configFolder: string): Binding {
  const binding = findBinding(settings);
  if (binding !== undefined) return binding;
  requireNamedProfile(settings, config, nearestWord);
  const missing = ['auth_url', 'base_url', 'client_id'].filter((key) => !Object.hasOwn(settings.values, key));
  throw new CliError('not_logged_in', `profile "${settings.profileName}" is not logged in`, {
    detail: `missing settings: ${missing.join(', ')}`,
    hint: setupHint(settings, loggedInProfiles(config, configFolder)),
  });
}

function setupHint({ profile }: ProfileSettings, loggedIn: readonly string[]): string {
  const setup = `set up the profile: ${commandFor(profile, 'auth setup')}`;
  // The profile itself may have the account of a login before its settings were removed.
  const others = loggedIn.filter((name) => name !== profile.name);
  const [first, ...more] = others;
  if (first === undefined) return setup;
  return more.length === 0
    ? `use \`--profile ${first}\`, which is logged in, or set CLOUDCTL_PROFILE; or ${setup}`
    : `use \`--profile NAME\` with a profile that is logged in (${others.join(', ')}), or set CLOUDCTL_PROFILE; or ${setup}`;
}

/** The profiles that have a token command, or an account file, which a login writes and a logout removes. */
export function loggedInProfiles(config: ConfigFile, configFolder: string): readonly string[] {
  return [...config.profiles].flatMap(([name, { token_command }]) =>
    token_command !== undefined || readAccount(configFolder, name) !== undefined ? [name] : [],
  );
}

/**
 * The hint of an error when the server of this setting cannot be reached. The command `cloudctl sandbox start` writes the
 * profile `sandbox`, whose servers are on this machine.
 */
export function unreachableHint(
  { profile, profileName, values, storedBaseUrl }: ProfileSettings,
  setting: 'auth_url' | 'base_url',
): string {
  const { variable = '' } = settingSpecs[setting];
  const option = `\`--${setting.replace('_', '-')}\``;
  // What replaces the address of the profile is not that of the sandbox, which may be running.
  const isOtherApi = setting === 'base_url' && storedBaseUrl !== undefined && storedBaseUrl !== values.base_url;
  const isReplaced =
    isOtherApi || profile.replacedBy?.includes(variable) === true || profile.typedServers?.includes(option) === true;
  return !isReplaced && isOfSandbox(profileName, values[setting])
    ? 'start the sandbox: `cloudctl sandbox start`'
    : `check the network and the address with ${commandFor(profile, 'config list')}`;
}

/** Whether the URL of the profile is that of the sandbox which wrote the profile, running or not. */
export function isOfSandbox(profileName: string, url: string | undefined): boolean {
  return profileName === 'sandbox' && url !== undefined && isLoopbackHost(new URL(url).hostname);
}

/** Hints for a refused request: the commands that log in, or how to stop using CLOUDCTL_ACCESS_TOKEN. */
export function refusedHints(settings: ProfileSettings, configFolder: string): RefusedHints {
  const { accessToken, profile, values } = settings;
  const unreachable = unreachableHint(settings, 'base_url');
  if (accessToken !== undefined && !settings.isProfileStored)
    return {
      login: 'set CLOUDCTL_ACCESS_TOKEN to a new access token',
      write: 'set CLOUDCTL_ACCESS_TOKEN to an access token with write access',
      read: `show the account of the token: ${commandFor(profile, 'auth status --check')}`,
      unreachable,
    };
  if (accessToken !== undefined) {
    const unset = 'use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`';
    // The profile may have another account, to which a ledger that this token began does not belong.
    const write = 'set CLOUDCTL_ACCESS_TOKEN to a token with the scope "read write"';
    return { login: unset, write, read: unset, unreachable };
  }
  if (values.token_command !== undefined) {
    const show = `check which account and scope its token has: ${commandFor(profile, 'auth status --check')}`;
    return { login: 'renew the session that token_command reads', write: show, read: show, unreachable };
  }
  return {
    login: loginOf(settings, configFolder),
    write: `log in with write access: ${loginOf(settings, configFolder, 'read write')}`,
    read: `show the account of the session: ${commandFor(profile, 'auth status')}`,
    unreachable,
  };
}

/**
 * Whether the server is known to follow docs/service.md: a sandbox on this machine, or a server whose grant named the account
 * (S2.10).
 */
export function followsSpec(folders: HostSystem['folders'], profile: string, authOrigin: string): boolean {
  const isSandbox = knownSandboxes(folders.state).some(({ auth_url }) => auth_url === authOrigin);
  return isSandbox || readAccount(folders.config, profile)?.hint !== undefined;
}
