import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';

/**
 * Options that `loginRetries` adds itself (`flow`, `scope`, `any-scope`, `team`), options for one account or one
 * token, without which a failed login is repeated, and a time limit, which may have been too short.
 */
const notRepeated: readonly string[] = [
  ...['flow', 'scope', 'any-scope', 'team'],
  ...['account-hint', 'with-token', 'login-timeout'],
];

/** Global options that choose the servers of the login. */
const serverOptionNames: readonly string[] = ['auth-url', 'base-url'];

/**
 * The options of `auth login` that the user typed, for a command that repeats the login: one element for each option with its
 * value, quoted for a shell.
 */
export function formatTypedLoginOptions(
  args: ParsedArgs,
  globals: ParsedArgs,
  declared: readonly OptionSpec[],
): readonly string[] {
  const own = declared.flatMap(({ name, valueName }) => {
    if (notRepeated.includes(name) || !args.has(name)) return [];
    if (valueName === undefined) return [`--${name}`];
    const values = args.values(name).filter((value) => name !== 'prompt' || value !== 'none');
    return values.map((value) => `--${name} ${quoteShellArg(value)}`);
  });
  const servers = serverOptionNames.flatMap((name) => {
    const value = globals.value(name);
    return value === undefined ? [] : [`--${name} ${quoteShellArg(value)}`];
  });
  return [...own, ...servers];
}
