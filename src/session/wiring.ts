import type { WayIn } from '../api/problem.ts';
import type { Config } from '../config/file.ts';
import { readSandboxPlaces } from '../config/sandbox.ts';
import { requireProfile, type Settings } from '../config/settings.ts';
import { CliError } from '../errors.ts';
import type { Host } from '../platform/host.ts';
import type { Secret } from '../secret.ts';
import { readAccount } from './account.ts';
import { commandFor, flowAgain } from './command-for.ts';
import { loginCommand } from './current.ts';
import type { Binding } from './record.ts';
import type { Session } from './session.ts';

/** The servers and the application a profile points to now; an error that says what is missing when it points nowhere. */
export function requireBinding(settings: Settings, config: Config): Binding {
  const binding = bindingOf(settings);
  if (binding !== undefined) return binding;
  requireProfile(settings, config);
  const missing = ['auth_url', 'base_url', 'client_id'].filter((key) => !Object.hasOwn(settings.values, key));
  throw new CliError('not_logged_in', `profile "${settings.profileName}" is not logged in`, {
    detail: `it has no ${missing.join(', no ')}`,
    hint: loginCommand(settings.profileName),
  });
}

export function bindingOf(settings: Settings): Binding | undefined {
  const { auth_url: authOrigin, base_url: baseOrigin, client_id: clientId } = settings.values;
  if (authOrigin === undefined || baseOrigin === undefined || clientId === undefined) return undefined;
  return { authOrigin, baseOrigin, clientId };
}

/** What helps who is refused: the command that logs in, or doing without the token of the environment, which it would not replace. */
export function wayIn({ accessToken, profileName, values }: Settings, configFolder: string): WayIn {
  if (accessToken !== undefined) {
    const wayOut = 'unset it to use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`';
    return { login: wayOut, write: wayOut, look: wayOut };
  }
  const flow = flowAgain(readAccount(configFolder, profileName)?.flow, values.flow);
  return {
    login: loginCommand(profileName, undefined, flow),
    write: `log in with write access: ${loginCommand(profileName, 'read write', flow)}`,
    look: `see whose session it is: ${commandFor(profileName, 'auth status')}`,
  };
}

/** The server is of spec.md's kind for certain: a sandbox of this machine, or one whose grant said whose account it is (spec.md §2). */
export function isOfSpec(folders: Host['folders'], profile: string, authOrigin: string): boolean {
  const isSandbox = readSandboxPlaces(folders.state).some(({ auth_url }) => auth_url === authOrigin);
  return isSandbox || readAccount(folders.config, profile)?.hint !== undefined;
}

/** The session of `CLOUDCTL_ACCESS_TOKEN`: a token that cannot be renewed and is stored nowhere. */
export function fixedBearer(accessToken: Secret): Session {
  const refuse = async (): Promise<never> => {
    throw new CliError('token_refused', 'the access token of CLOUDCTL_ACCESS_TOKEN was refused', {
      hint: 'unset it to use the session of the profile: `unset CLOUDCTL_ACCESS_TOKEN`',
    });
  };
  const noRecord = async (): Promise<never> => {
    throw new CliError('usage', 'CLOUDCTL_ACCESS_TOKEN is set, so no stored session is in use', {
      hint: 'unset it: `unset CLOUDCTL_ACCESS_TOKEN`',
    });
  };
  return { bearer: async () => accessToken, renew: refuse, record: noRecord, force: noRecord };
}
