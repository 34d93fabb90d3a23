import { quoteShellArg } from '../base/text.ts';
import type { ParsedArgs } from '../cli/command.ts';
import type { OutputFormat } from '../cli/print.ts';
import { DamagedConfigError } from '../config/config-file.ts';
import { type ProfileReference, type ProfileSettings, profileWords, type TypedSettings } from '../config/settings.ts';

/** The global options that override settings of the profile. */
export function globalSettings(globals: Pick<ParsedArgs, 'value'>): TypedSettings {
  const authUrl = globals.value('auth-url');
  const baseUrl = globals.value('base-url');
  return {
    ...(authUrl === undefined ? {} : { auth_url: { option: '--auth-url', text: authUrl } }),
    ...(baseUrl === undefined ? {} : { base_url: { option: '--base-url', text: baseUrl } }),
  };
}

/** Options with which another command selects the same profile and servers, quoted for a shell. */
export function profileOptions(globals: Pick<ParsedArgs, 'value'>, profile: ProfileReference): readonly string[] {
  const urls = ['auth-url', 'base-url'].flatMap((option) => {
    const value = globals.value(option);
    return value === undefined ? [] : [`--${option}`, quoteShellArg(value)];
  });
  return [...profileWords(profile), ...urls];
}

/**
 * The output format from `--output`, which the parser has checked, else from the environment or the profile.
 * @param diagnosis given if the command itself reports settings that are not valid: CLOUDCTL_OUTPUT, which may be the only valid one
 */
export function resolveFormat(
  globals: ParsedArgs,
  settings: () => ProfileSettings,
  diagnosis?: { readonly variable: string | undefined },
): OutputFormat {
  const typed = globals.value('output') ?? (globals.has('json') ? 'json' : undefined);
  const known = outputFormats.find((format) => format === typed);
  if (known !== undefined) return known;
  try {
    return settings().values.output ?? 'table';
  } catch (error) {
    // A damaged config.json is an error only for commands that need a profile, not for `config path` or `completion`.
    if (!(error instanceof DamagedConfigError) && diagnosis === undefined) throw error;
    return outputFormats.find((format) => format === diagnosis?.variable) ?? 'table';
  }
}

const outputFormats = ['table', 'json', 'ndjson', 'yaml', 'csv'] as const;
