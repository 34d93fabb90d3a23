import type { Words } from '../cli/command.ts';
import type { Format } from '../cli/output.ts';
import { DamagedConfig } from '../config/file.ts';
import type { Settings, TypedOptions } from '../config/settings.ts';

/** The global options that stand for values of a profile. */
export function globalOptions(globals: Words): TypedOptions {
  const authUrl = globals.text('auth-url');
  const baseUrl = globals.text('base-url');
  return {
    ...(authUrl === undefined ? {} : { auth_url: { option: '--auth-url', text: authUrl } }),
    ...(baseUrl === undefined ? {} : { base_url: { option: '--base-url', text: baseUrl } }),
  };
}

/** `--output` was checked by the parser; variable and profile only count without it, and are checked then. */
export function formatOf(globals: Words, settings: () => Settings): Format {
  const typed = globals.text('output');
  const known = formats.find((format) => format === typed);
  if (known !== undefined) return known;
  try {
    return settings().values.output ?? 'table';
  } catch (error) {
    // A damaged file stops the commands that need it, not `config path` or `completion`.
    if (error instanceof DamagedConfig) return 'table';
    throw error;
  }
}

const formats = ['table', 'json', 'ndjson', 'yaml', 'csv'] as const;
