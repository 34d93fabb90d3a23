import { type AccountDetails, fetchAccount } from '../api/account-details.ts';
import type { Actor } from '../api/actor.ts';
import type { ApiClient } from '../api/client.ts';
import { limitWait, type Waits } from '../api/waits.ts';
import { readAccount, refusedHints, reloginCommand } from '../auth/session/index.ts';
import { CliError } from '../base/errors.ts';
import { type ActorIdentity, describeTeam } from '../base/identity.ts';
import { tokenSource } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { runUntilSignal } from '../platform/waiting.ts';
import { profileOptions } from './globals.ts';

/** Who the command acts as: the account of the stored session, or that of its token, which only the service knows. */
export function actorOf(context: CommandContext): Actor {
  const { settings, host, globals, prompts } = context;
  let opened: Promise<ApiClient> | undefined;
  const api = (): Promise<ApiClient> => {
    opened ??= context.api(settings()).catch((error: unknown) => {
      // A long watch asks again, after a login for example.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const baseOrigin = () => settings().values.base_url;
  const loginHints = () => refusedHints(settings(), host.folders.config);
  const isOfSession = () => tokenSource(settings()) === 'session';

  const storedIdentity = async (): Promise<ActorIdentity> => {
    if (!isOfSession()) return { baseOrigin: baseOrigin() };
    const { accountUuid, team, authOrigin, clientId, ...record } = await (await context.session(settings())).record();
    return { accountUuid, team, authOrigin, baseOrigin: record.baseOrigin, clientId };
  };

  const identity = async ({ maxWait, onPause }: Waits, signal?: AbortSignal): Promise<ActorIdentity> => {
    const known = await storedIdentity();
    if (isComplete(known)) return known;
    const pause = async (ms: number): Promise<void> => {
      await onPause(ms);
      await host.clock.sleep(ms, signal);
    };
    const retry = limitWait(pause, maxWait);
    const { accountUuid, team } = await fetchAccount(await api(), loginHints(), retry).catch(asBatchError);
    return { ...known, accountUuid: known.accountUuid ?? accountUuid, team: known.team ?? team };
  };

  const describe = ({ accountUuid, team }: ActorIdentity): string => {
    const account = isOfSession() ? readAccount(host.folders.config, settings().profileName) : undefined;
    const who = account?.email ?? account?.name ?? accountUuid ?? 'an unknown account';
    if (account?.team_name !== undefined) return `${who}, team ${account.team_name}`;
    return team === undefined ? who : `${who}, ${describeTeam(team)}`;
  };

  return {
    ...{ api, baseOrigin, storedIdentity, identity, describe, loginHints },
    async identityIfAvailable(waits) {
      // A profile without a valid base_url, or without a session, is an error.
      await api();
      const stored = await storedIdentity();
      if (isComplete(stored)) return stored;
      return runUntilSignal(host.signals, 'interrupted before the batch was started', async (signal) => {
        const aborted = new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
        try {
          return await Promise.race([identity(waits, signal), aborted]);
        } catch (error) {
          if (error instanceof CliError && ['unreachable', 'timeout', 'tls', 'api_error'].includes(error.code))
            return stored;
          throw error;
        }
      });
    },
    async describeForPrompt() {
      const known = await storedIdentity();
      if (isOfSession() || !prompts.interactive) return describe(known);
      const account: AccountDetails = await fetchAccount(await api(), loginHints()).catch((error: unknown) => {
        if (error instanceof CliError) return {};
        throw error;
      });
      const who = account.email ?? account.name;
      if (who === undefined) return describe({ ...known, ...account });
      return `${who}, ${account.teamName === undefined ? describeTeam(account.team) : `team ${account.teamName}`}`;
    },
    loginHint({ account, team }) {
      const { accessToken, profile, values } = settings();
      if (accessToken !== undefined)
        return 'set CLOUDCTL_ACCESS_TOKEN to a token of the account that started the batch';
      if (values.token_command !== undefined)
        return 'let token_command print a token of the account that started the batch';
      const ended = {
        scope: 'read write',
        ...(account === undefined ? {} : { accountUuid: account }),
        ...(team === undefined ? {} : { team }),
      };
      return `log in as the account that started the batch: ${reloginCommand(profile, ended, [])}`;
    },
    profileOptions: () => profileOptions(globals, settings().profile),
    command: (...words) => ['cloudctl', ...words, ...profileOptions(globals, settings().profile)].join(' '),
  };
}

function isComplete({ accountUuid, team }: ActorIdentity): boolean {
  return accountUuid !== undefined && team !== undefined;
}

/** A batch exits with 5 when the rate limit requires a longer wait than `--max-wait`, because the batch can be resumed. */
function asBatchError(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== 'rate_limited') throw error;
  const { message, detail, hint, status, requestId } = error;
  throw new CliError('rate_limited', message, { detail, hint, status, requestId, exitCode: 5 });
}
