import type { ParsedArgs } from '../cli/command.ts';
import { quoteShellArg } from '../cli/shell-quote.ts';
import { formatProfileOption, type ProfileReference } from '../config/settings.ts';

/** Options with which another command selects the same profile and servers, quoted for a shell. */
export function formatProfileAndServerOptions(globals: ParsedArgs, profile: ProfileReference): readonly string[] {
  const urls = ['auth-url', 'base-url'].flatMap((option) => {
    const value = globals.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
  return [...formatProfileOption(profile), ...urls];
}
