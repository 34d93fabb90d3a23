import type { ParsedArgs } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { formatProfileOption, type ProfileReference } from '../../config/settings.ts';
import { type DropletUserData, dropletUserDataOption } from '../options/user-data.ts';

/**
 * The command that resumes a batch. The resume command repeats the options that determine size and number of requests, because
 * the server may not accept larger groups or more simultaneous requests.
 */
export function formatBatchResumeCommand(
  ledgerPath: string,
  args: ParsedArgs,
  profileOptions: readonly string[],
  userData?: Pick<DropletUserData, 'file'>,
): string {
  const sizes = ['batch-size', 'concurrency', 'max-wait', 'wait-timeout'].flatMap((option) => {
    const value = args.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
  const wait = args.has('wait') ? ['--wait'] : [];
  const file = userData === undefined ? [] : [`--${dropletUserDataOption.name}`, quoteShellArg(userData.file)];
  const options = [...sizes, ...wait, ...file, ...profileOptions];
  return ['cloudctl droplets create --resume', quoteShellArg(ledgerPath), ...options].join(' ');
}

/** Options with which another command selects the same profile and servers, quoted for a shell. */
export function formatProfileAndServerOptions(globals: ParsedArgs, profile: ProfileReference): readonly string[] {
  const urls = ['auth-url', 'base-url'].flatMap((option) => {
    const value = globals.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
  return [...formatProfileOption(profile), ...urls];
}
