import type { BatchDescriptionLedgerEvent } from '../../batch/ledger/batch-ledger-event.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import { usageError } from '../../errors.ts';
import { formatReauthenticateCommand } from '../../session/suggested-commands.ts';

/** The hint that explains how to continue a batch that another account or team started. */
export function batchLedgerLoginHint(
  { accessToken, profile }: ResolvedProfileSettings,
  { account, team }: BatchDescriptionLedgerEvent,
): string {
  if (accessToken !== undefined) return 'set CLOUDCTL_ACCESS_TOKEN to a token of the account that started the batch';
  const ended = {
    scope: 'read write',
    ...(account === undefined ? {} : { accountUuid: account }),
    ...(team === undefined ? {} : { team }),
  };
  return `log in as the account that started the batch: ${formatReauthenticateCommand(profile, ended, [])}`;
}

/** On another server the lookups would find no droplet of the batch, and all droplets would be created again. */
export function requireProfileMatchesLedger(
  settings: ResolvedProfileSettings,
  { profile, base_url }: BatchDescriptionLedgerEvent,
): void {
  const detail = `the batch was started with profile "${profile}" at ${base_url}`;
  if (settings.profileName !== profile)
    throw usageError('--profile contradicts the ledger', `use \`--profile ${quoteShellArg(profile)}\``, detail);
  if (settings.values.base_url !== base_url)
    throw usageError('--base-url contradicts the ledger', `use \`--base-url ${quoteShellArg(base_url)}\``, detail);
}
