import { type ApiClient, createApiClient } from '../api/client.ts';
import {
  type CommandOfSessions,
  createSessions,
  readAccount,
  refusedHints,
  type Sessions,
} from '../auth/session/index.ts';
import { usageError } from '../base/errors.ts';
import { type Secret, withhold } from '../base/secret.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import { announceBeforeWrites, describeTokenAccount } from './token-account.ts';

/** What the services of a profile use of the command. */
export interface ServicesOfCommand extends CommandOfSessions {
  /** Time limit of one HTTP request, in milliseconds. */
  readonly timeout: number;
}

/** The services that use the credential store of a profile. Commands without these services do not load this module. */
export interface ProfileServices extends Sessions {
  readonly api: (settings: ResolvedProfileSettings) => Promise<ApiClient>;
}

/** Time limit of the request that reads the account of CLOUDCTL_ACCESS_TOKEN for a notice, in milliseconds. */
const accountLimitMs = 5_000;

export function createProfileServices(command: ServicesOfCommand): ProfileServices {
  const { host, output, send, requireSafe } = command;
  const sessions = createSessions(command);
  /** One notice for all clients of this process. */
  let announced: Promise<void> | undefined;
  const api = async (settings: ResolvedProfileSettings): Promise<ApiClient> => {
    requireSafe();
    // One provider may run both servers, and each may repeat what the other has been sent.
    withhold(settings.clientSecret);
    const bearer = await sessions.session(settings);
    const loginHints = refusedHints(settings, host.folders.config);
    const parts = {
      baseOrigin: requireBaseUrl(settings),
      send: await send(),
      bearer: bearer.bearer,
      renew: (refused: Secret) => bearer.renew(refused),
      clock: host.clock,
      timeout: command.timeout,
      loginHints,
    };
    const client = createApiClient(parts);
    // With -o json, stderr is empty or has one error object.
    if (settings.accessToken === undefined || output.format === 'json') return client;
    const reader = createApiClient({ ...parts, timeout: Math.min(command.timeout, accountLimitMs) });
    const own = readAccount(host.folders.config, settings.profileName);
    return announceBeforeWrites(client, () => {
      announced ??= describeTokenAccount(settings, own, reader, loginHints).then(async (notice) => {
        if (notice !== undefined) await output.note(notice);
      });
      return announced;
    });
  };
  return { ...sessions, api };
}

function requireBaseUrl(settings: ResolvedProfileSettings): string {
  const base = settings.values.base_url;
  if (base === undefined)
    throw usageError('base_url is missing', 'pass --base-url, set CLOUDCTL_BASE_URL, or run `cloudctl auth setup`');
  return base;
}
