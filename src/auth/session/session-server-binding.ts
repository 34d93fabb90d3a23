import type { RefusedRequestHints } from '../../api/api-response.ts';
import { CliError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { ConfigFile } from '../../config/config-file.ts';
import { readKnownSandboxes } from '../../config/sandbox-urls-and-credentials.ts';
import { type ResolvedProfileSettings, requireNamedProfileExists } from '../../config/settings.ts';
import type { HostSystem } from '../../platform/host.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import { readLoggedInAccountFile } from './account.ts';
import { findProfileServerBinding, type SessionServerBinding } from './credential-record.ts';
import type { ProfileAccessTokenProvider } from './profile-access-token-provider.ts';
import { formatCommandForProfile, formatLoginCommand, formatLoginFlowOption } from './suggested-commands.ts';

/** The servers and the application of a profile. Throws `not_logged_in` or `profile_unknown` when a required setting is missing. */
export function requireProfileServerBinding(
  settings: ResolvedProfileSettings,
  config: ConfigFile,
  configFolder: string,
): SessionServerBinding {
  const binding = findProfileServerBinding(settings);
  if (binding !== undefined) return binding;
  requireNamedProfileExists(settings, config);
  const missing = ['auth_url', 'base_url', 'client_id'].filter((key) => !Object.hasOwn(settings.values, key));
  throw new CliError('not_logged_in', `profile "${settings.profileName}" is not logged in`, {
    detail: `missing settings: ${missing.join(', ')}`,
    hint: setupHint(settings, findLoggedInProfiles(config, configFolder)),
  });
}

function setupHint({ profile }: ResolvedProfileSettings, others: readonly string[]): string {
  const setup = `set up the profile: ${formatCommandForProfile(profile, 'auth setup')}`;
  const [first, ...more] = others;
  if (first === undefined) return setup;
  return more.length === 0
    ? `use \`--profile ${first}\`, which is logged in, or set CLOUDCTL_PROFILE; or ${setup}`
    : `use \`--profile NAME\` with a profile that is logged in (${others.join(', ')}), or set CLOUDCTL_PROFILE; or ${setup}`;
}

/** The profiles that have a token command, or an account file, which a login writes and a logout removes. */
export function findLoggedInProfiles(config: ConfigFile, configFolder: string): readonly string[] {
  return [...config.profiles].flatMap(([name, { token_command }]) =>
    token_command !== undefined || readLoggedInAccountFile(configFolder, name) !== undefined ? [name] : [],
  );
}

/**
 * The hint of an error when a server of the profile cannot be reached. The command `cloudctl sandbox start` writes the profile
 * `sandbox`.
 */
export function buildProfileServerUnreachableHint({ profileName, values }: ResolvedProfileSettings): string {
  const { auth_url: url } = values;
  const isSandbox = profileName === 'sandbox' && url !== undefined && isLoopbackHost(new URL(url).hostname);
  return isSandbox
    ? 'start the sandbox: `cloudctl sandbox start`'
    : 'check the network and the address with `cloudctl config list`';
}

/** Hints for a refused request: the commands that log in, or how to stop using CLOUDCTL_ACCESS_TOKEN. */
export function buildRefusedRequestHints(settings: ResolvedProfileSettings, configFolder: string): RefusedRequestHints {
  const { accessToken, profile, profileName, values } = settings;
  const unreachable = buildProfileServerUnreachableHint(settings);
  if (accessToken !== undefined) {
    const unset = 'use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`';
    return { login: unset, write: unset, read: unset, unreachable };
  }
  if (values.token_command !== undefined) {
    const show = `check which account and scope its token has: ${formatCommandForProfile(profile, 'auth status --check')}`;
    return { login: 'renew the session that token_command reads', write: show, read: show, unreachable };
  }
  const flow = formatLoginFlowOption(readLoggedInAccountFile(configFolder, profileName)?.flow, values.flow);
  return {
    login: formatLoginCommand(profile, undefined, flow),
    write: `log in with write access: ${formatLoginCommand(profile, 'read write', flow)}`,
    read: `show the account of the session: ${formatCommandForProfile(profile, 'auth status')}`,
    unreachable,
  };
}

/**
 * Whether the server is known to follow docs/service.md: a sandbox on this machine, or a server whose grant named the account
 * (S2.10).
 */
export function isServerKnownToImplementSpec(
  folders: HostSystem['folders'],
  profile: string,
  authOrigin: string,
): boolean {
  const isSandbox = readKnownSandboxes(folders.state).some(({ auth_url }) => auth_url === authOrigin);
  return isSandbox || readLoggedInAccountFile(folders.config, profile)?.hint !== undefined;
}

/** The session of `CLOUDCTL_ACCESS_TOKEN`: its token cannot be refreshed and is not stored. */
export function createFixedTokenSession(accessToken: Secret): ProfileAccessTokenProvider {
  const refuse = async (): Promise<never> => {
    throw new CliError('token_refused', 'the access token of CLOUDCTL_ACCESS_TOKEN was refused', {
      hint: 'use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`',
    });
  };
  const noRecord = async (): Promise<never> => {
    throw new CliError('usage', 'CLOUDCTL_ACCESS_TOKEN is set, so no stored session is in use', {
      hint: 'run `unset CLOUDCTL_ACCESS_TOKEN`',
    });
  };
  return { bearer: async () => accessToken, renew: refuse, record: noRecord, forceRefresh: noRecord };
}
