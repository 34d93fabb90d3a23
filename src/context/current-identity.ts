import { fetchAccountDetails } from '../api/account-details.ts';
import { createRateLimitWaitFunction } from '../api/rate-limit-wait.ts';
import { readAccount, refusedHints } from '../auth/session/index.ts';
import { CliError } from '../base/errors.ts';
import { type AccountAndServerOrigins, describeTeam } from '../base/identity.ts';
import { accessTokenSource, type ResolvedProfileSettings } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { runUntilSignal } from '../platform/waiting.ts';

/** How a batch waits when the server refuses a request because of its rate limit. */
interface RateLimitWaitOptions {
  /** The longest time in milliseconds that a request waits when the rate limit is reached. */
  readonly maxWait: number;
  /** Called before each wait for the rate limit. @param ms milliseconds */
  readonly onPause: (ms: number) => Promise<void>;
}

/**
 * Reads which account, team and application the requests of this command use. The stored session is read first; if it lacks the
 * account or the team (implicit flow, CLOUDCTL_ACCESS_TOKEN, token command), `GET /v2/account` is sent.
 */
export async function readCurrentAccountAndServerOrigins(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  { maxWait, onPause }: RateLimitWaitOptions,
  signal?: AbortSignal,
): Promise<AccountAndServerOrigins> {
  const known = await readStoredAccountAndServerOrigins(context, settings);
  if (known.accountUuid !== undefined && known.team !== undefined) return known;
  const hints = refusedHints(settings, context.host.folders.config);
  const pause = async (ms: number): Promise<void> => {
    await onPause(ms);
    await context.host.clock.sleep(ms, signal);
  };
  const retry = createRateLimitWaitFunction(pause, maxWait);
  const answered = await fetchAccountDetails(await context.api(settings), hints, retry).catch(asBatchError);
  return {
    ...known,
    accountUuid: known.accountUuid ?? answered.accountUuid,
    team: known.team ?? answered.team,
  };
}

/**
 * Reads the identity for the start of a batch. A batch can start without the identity, so the identity stays unknown if
 * the server does not respond.
 */
export async function readAccountAndServerOriginsIfAvailable(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  wait: RateLimitWaitOptions,
): Promise<AccountAndServerOrigins> {
  // A profile without a valid base_url, or without a session, is an error.
  await context.api(settings);
  const stored = await readStoredAccountAndServerOrigins(context, settings);
  if (stored.accountUuid !== undefined && stored.team !== undefined) return stored;
  return runUntilSignal(context.host.signals, 'interrupted before the batch was started', async (signal) => {
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    try {
      return await Promise.race([readCurrentAccountAndServerOrigins(context, settings, wait, signal), aborted]);
    } catch (error) {
      if (error instanceof CliError && ['unreachable', 'timeout', 'tls', 'api_error'].includes(error.code))
        return stored;
      throw error;
    }
  });
}

/** A batch exits with 5 when the rate limit requires a longer wait than `--max-wait`, because the batch can be resumed. */
function asBatchError(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== 'rate_limited') throw error;
  const { message, detail, hint, status, requestId } = error;
  throw new CliError('rate_limited', message, { detail, hint, status, requestId, exitCode: 5 });
}

/**
 * The identity that is known without a request: from the stored session; with another source of the token, only the origin of
 * the API.
 */
export async function readStoredAccountAndServerOrigins(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<AccountAndServerOrigins> {
  if (accessTokenSource(settings) !== 'session') return { baseOrigin: settings.values.base_url };
  const { accountUuid, team, authOrigin, baseOrigin, clientId } = await (await context.session(settings)).record();
  return { accountUuid, team, authOrigin, baseOrigin, clientId };
}

/**
 * The account for the question of a confirmation. The account of a token that is not of a stored session is read from the service;
 * without a terminal nothing is asked.
 */
export async function describeActor(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  identity: AccountAndServerOrigins,
): Promise<string> {
  if (accessTokenSource(settings) === 'session' || !context.prompts.interactive)
    return describeCurrentAccount(context, settings, identity);
  const hints = refusedHints(settings, context.host.folders.config);
  const account = await fetchAccountDetails(await context.api(settings), hints).catch((error: unknown) => {
    if (error instanceof CliError) return undefined;
    throw error;
  });
  const who = account?.email ?? account?.name;
  if (account === undefined || who === undefined)
    return describeCurrentAccount(context, settings, { ...identity, ...account });
  return account.teamName === undefined ? `${who}, ${describeTeam(account.team)}` : `${who}, team ${account.teamName}`;
}

/** Describes the account to the user with names where they are known, such as `ada@example.com, team Harbour Works`. */
export function describeCurrentAccount(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  identity: AccountAndServerOrigins,
): string {
  const account =
    accessTokenSource(settings) === 'session'
      ? readAccount(context.host.folders.config, settings.profileName)
      : undefined;
  const who = account?.email ?? account?.name ?? identity.accountUuid ?? 'an unknown account';
  if (account?.team_name !== undefined) return `${who}, team ${account.team_name}`;
  if (identity.team === undefined) return who;
  return `${who}, ${identity.team === 'personal' ? 'personal context' : `team ${identity.team}`}`;
}
