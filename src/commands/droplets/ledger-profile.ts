import { usageError } from '../../base/errors.ts';
import type { AccountAndServerOrigins } from '../../base/identity.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import { type RateLimitWaitOptions, readCurrentAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import { type Batch, type BatchState, requireSameAccount } from '../../droplets/index.ts';
import { buildRefusedRequestHints } from '../../session/session-server-binding.ts';
import { formatReauthenticateCommand } from '../../session/suggested-commands.ts';

/** The hint that explains how to continue a batch that another account or team started. */
function batchLedgerLoginHint(
  { accessToken, profile, values }: ResolvedProfileSettings,
  { account, team }: Batch,
): string {
  if (accessToken !== undefined) return 'set CLOUDCTL_ACCESS_TOKEN to a token of the account that started the batch';
  if (values.token_command !== undefined)
    return 'let token_command print a token of the account that started the batch';
  const ended = {
    scope: 'read write',
    ...(account === undefined ? {} : { accountUuid: account }),
    ...(team === undefined ? {} : { team }),
  };
  return `log in as the account that started the batch: ${formatReauthenticateCommand(profile, ended, [])}`;
}

/** On another server the lookups would find no droplet of the batch, and all droplets would be created again. */
export function requireProfileMatchesLedger(settings: ResolvedProfileSettings, { profile, base_url }: Batch): void {
  const detail = `the batch was started with profile "${profile}" at ${base_url}`;
  if (settings.profileName !== profile)
    throw usageError('--profile contradicts the ledger', `use \`--profile ${quoteShellArg(profile)}\``, detail);
  if (settings.values.base_url !== base_url)
    throw usageError('--base-url contradicts the ledger', `use \`--base-url ${quoteShellArg(base_url)}\``, detail);
}

/**
 * Requires that this command acts as the account that started the batch; resolves with the account. @param newBatchHint how
 * to create the droplets when nothing proves the account
 */
export async function requireAccountOfLedger(
  context: CommandContext,
  state: BatchState,
  wait: RateLimitWaitOptions,
  newBatchHint?: string,
): Promise<AccountAndServerOrigins> {
  const settings = context.settings();
  const current = await readCurrentAccountAndServerOrigins(context, settings, wait);
  await requireSameAccount({
    api: await context.api(settings),
    state,
    current,
    loginHint: batchLedgerLoginHint(settings, state.batch),
    loginHints: buildRefusedRequestHints(settings, context.host.folders.config),
    newBatchHint,
  });
  return current;
}
