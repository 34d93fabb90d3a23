import { isKnownScope } from '../../auth/oauth/index.ts';
import { usageError } from '../../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { type Profile, type ProfileSettingKey, profileSettingSpecs } from '../../config/profile.ts';
import {
  normalizeEnvironmentVariableValue,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

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

interface ProfileQuestions {
  /** Whether existing values are also asked for, and shown as defaults. */
  readonly asking: boolean;
  /** Whether the profile may have no application, because no option or variable describes one. */
  readonly mayBeTokenOnly: boolean;
  /** The values of another profile, shown as defaults where this profile has none. */
  readonly model: Profile;
}

/** Prompts for the missing values of a profile. */
export async function askProfileValues(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  typed: ProfileSettingsFromOptions,
  { asking, mayBeTokenOnly, model }: ProfileQuestions,
): Promise<Profile> {
  let values: Profile = settings.values;
  for (const { key, name, option, message, preset } of profileQuestions) {
    if (values[key] !== undefined && !(asking && isFromConfigFile(context, typed, key))) continue;
    const isOptional = key === 'client_id' && mayBeTokenOnly && values.client_id === undefined;
    if (isOptional && !context.prompts.interactive) return values;
    const { variable, parse } = profileSettingSpecs[key];
    const shown = defaultText(values[key] ?? model[key]) ?? preset;
    const text = await context.prompts.ask({
      name,
      option,
      ...(variable === undefined ? {} : { variable }),
      message: isOptional && shown === undefined ? `${message} (Enter for none: access tokens only)` : message,
      ...(shown === undefined ? {} : { default: shown }),
      validate: (written) => {
        if (isOptional && written.trim() === '') return true;
        const parsed = parse(written.trim());
        return parsed.ok ? true : `The value is ${parsed.reason}.`;
      },
    });
    if (isOptional && text.trim() === '') return values;
    const parsed = parse(text.trim());
    if (!parsed.ok) throw usageError(`${name} is ${parsed.reason}`);
    values = { ...values, [key]: parsed.value };
  }
  if (typed.scope !== undefined && !isKnownScope(typed.scope.text))
    throw usageError(`unknown scope "${typed.scope.text}"`, 'use `--scope read` or `--scope "read write"`');
  // The other settings of the same application, which are not asked for.
  const isSameApplication = values.auth_url === model.auth_url && values.client_id === model.client_id;
  const { flow, issuer, token_params, pkce } = model;
  const others = Object.entries({ flow, issuer, token_params, pkce }).filter(([, value]) => value !== undefined);
  const all: Profile = isSameApplication ? { ...Object.fromEntries(others), ...values } : values;
  const scope = await askScope(context, values.scope, model.scope, typed, asking);
  return { ...all, scope, flow: all.flow ?? 'code' };
}

/** Settings in the order of the prompts. */
const profileQuestions: readonly {
  readonly key: ProfileSettingKey;
  readonly name: string;
  readonly option: string;
  readonly message: string;
  readonly preset?: string;
}[] = [
  {
    key: 'auth_url',
    name: 'auth_url',
    option: '--auth-url',
    message: 'Origin of the authorization server (https://…)',
  },
  { key: 'base_url', name: 'base_url', option: '--base-url', message: 'Origin of the resource API (https://…)' },
  { key: 'client_id', name: 'client ID', option: '--client-id', message: 'Client ID of the registered application' },
  {
    key: 'callback_urls',
    name: 'callback URL',
    option: '--callback-url',
    message: 'Callback URL of the registered application',
    preset: 'http://127.0.0.1:8765/callback',
  },
];

/** Whether the setting comes from config.json, not from an option or environment variable of this run. */
function isFromConfigFile(context: CommandContext, typed: ProfileSettingsFromOptions, key: ProfileSettingKey): boolean {
  const { variable } = profileSettingSpecs[key];
  const option = key === 'auth_url' ? 'auth-url' : key === 'base_url' ? 'base-url' : undefined;
  if (typed[key] !== undefined || (option !== undefined && context.globals.value(option) !== undefined)) return false;
  return variable === undefined || normalizeEnvironmentVariableValue(context.host.env[variable]) === undefined;
}

function defaultText(value: Profile[ProfileSettingKey]): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}

async function askScope(
  context: CommandContext,
  known: string | undefined,
  preset: string | undefined,
  typed: ProfileSettingsFromOptions,
  asking: boolean,
): Promise<string> {
  /**
   * A scope that the service does not know was set for another server, so the prompt, which offers only two scopes, is
   * skipped.
   */
  const stays = known !== undefined && !(asking && isKnownScope(known) && isFromConfigFile(context, typed, 'scope'));
  if (stays) return known;
  if (!context.prompts.interactive) return 'read';
  return context.prompts.choose({
    name: 'scope',
    option: '--scope',
    variable: 'CLOUDCTL_SCOPE',
    message: 'Scope to request at login',
    choices: [
      { name: 'read: read only', value: 'read' },
      { name: 'read write: read, create, change and delete', value: 'read write' },
    ],
    default: (known ?? preset ?? 'read').includes('write') ? 'read write' : 'read',
  });
}
