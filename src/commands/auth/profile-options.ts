import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { ProfileSettingKey } from '../../config/profile.ts';
import type { ProfileSettingsFromOptions } from '../../config/settings.ts';

/** Options for the server and the credential store, which `auth setup` and `auth login` share. */
export const profileSettingsOptionSpecs: readonly OptionSpec[] = [
  {
    name: 'token-params',
    valueName: 'PLACE',
    description:
      'where the token endpoint reads its parameters: query, or body or basic for standard servers (default: query)',
    choices: ['query', 'body', 'basic'],
  },
  { name: 'no-pkce', description: 'send no PKCE parameters, for servers that refuse them' },
  {
    name: 'credential-store',
    valueName: 'STORE',
    description: 'where sessions are stored: keychain, or file for a file with mode 0600 (default: keychain)',
    choices: ['keychain', 'file'],
  },
];

/** The options of a command that override settings of the profile, as the user typed them. */
export function readProfileSettingsFromOptions(
  args: ParsedArgs,
  declared: readonly OptionSpec[],
): ProfileSettingsFromOptions {
  const entries = declared.flatMap(({ name, valueName: value, multiple: many }) => {
    const key = profileKeyByOption[name];
    // `--no-pkce` is the only flag among these options, and sets the value false.
    const text =
      value === undefined ? (args.has(name) ? 'false' : undefined) : optionText(args, name, many !== undefined);
    return key === undefined || text === undefined ? [] : [[key, { option: `--${name}`, text }] as const];
  });
  return Object.fromEntries(entries);
}

function optionText(args: ParsedArgs, name: string, many: boolean): string | undefined {
  if (!many) return args.value(name);
  const values = args.values(name);
  return values.length === 0 ? undefined : values.join(',');
}

const profileKeyByOption: Readonly<Record<string, ProfileSettingKey>> = {
  'client-id': 'client_id',
  'callback-url': 'callback_urls',
  scope: 'scope',
  flow: 'flow',
  issuer: 'issuer',
  'token-params': 'token_params',
  'no-pkce': 'pkce',
  'credential-store': 'credential_store',
};
