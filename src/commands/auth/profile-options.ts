import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { ProfileKey } from '../../config/profile.ts';
import type { SettingOverrides } from '../../config/settings.ts';

/** How the server and this machine want it: the options that `auth setup` and `auth login` share. */
export const serverOptions: readonly OptionSpec[] = [
  {
    name: 'token-params',
    valueName: 'PLACE',
    description: 'query, or for standard servers body or basic',
    choices: ['query', 'body', 'basic'],
  },
  { name: 'no-pkce', description: 'for servers that refuse PKCE' },
  {
    name: 'credential-store',
    valueName: 'STORE',
    description: 'keychain, or file for a file of mode 0600',
    choices: ['keychain', 'file'],
  },
];

/** The options a command declares that stand for values of a profile, as typed. */
export function settingOverrides(words: ParsedArgs, declared: readonly OptionSpec[]): SettingOverrides {
  const entries = declared.flatMap(({ name, valueName: value, multiple: many }) => {
    const key = profileKeyByOption[name];
    // `--no-pkce` is the one flag among them, and stands for false.
    const text =
      value === undefined ? (words.has(name) ? 'false' : undefined) : optionText(words, name, many !== undefined);
    return key === undefined || text === undefined ? [] : [[key, { option: `--${name}`, text }] as const];
  });
  return Object.fromEntries(entries);
}

function optionText(words: ParsedArgs, name: string, many: boolean): string | undefined {
  if (!many) return words.value(name);
  const values = words.values(name);
  return values.length === 0 ? undefined : values.join(',');
}

const profileKeyByOption: Readonly<Record<string, ProfileKey>> = {
  'client-id': 'client_id',
  'callback-url': 'callback_urls',
  scope: 'scope',
  flow: 'flow',
  issuer: 'issuer',
  'token-params': 'token_params',
  'no-pkce': 'pkce',
  'credential-store': 'credential_store',
};
