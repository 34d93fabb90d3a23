import { isKnownScope } from '../../auth/oauth/scope.ts';
import { usageError } from '../../base/errors.ts';
import { type Profile, type ProfileSettingKey, profileSettingSpecs } from '../../config/profile.ts';
import {
  normalizeEnvironmentVariableValue,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';

/** Prompts for the missing values of a profile; with `asking`, existing values are also asked for and shown as defaults. */
export async function askProfileValues(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  typed: ProfileSettingsFromOptions,
  asking: boolean,
): Promise<Profile> {
  let values: Profile = settings.values;
  for (const { key, name, option, message, preset } of profileQuestions) {
    if (values[key] !== undefined && !(asking && isFromConfigFile(context, typed, key))) continue;
    const { variable, parse } = profileSettingSpecs[key];
    const shown = defaultText(values[key]) ?? preset;
    const text = await context.prompts.ask({
      name,
      option,
      ...(variable === undefined ? {} : { variable }),
      message,
      ...(shown === undefined ? {} : { default: shown }),
      validate: (written) => {
        const parsed = parse(written.trim());
        return parsed.ok ? true : `The value is ${parsed.reason}.`;
      },
    });
    const parsed = parse(text.trim());
    if (!parsed.ok) throw usageError(`${name} is ${parsed.reason}`);
    values = { ...values, [key]: parsed.value };
  }
  if (typed.scope !== undefined && !isKnownScope(typed.scope.text))
    throw usageError(`unknown scope "${typed.scope.text}"`, 'use `--scope read` or `--scope "read write"`');
  return { ...values, scope: await askScope(context, values.scope, typed, asking), flow: values.flow ?? 'code' };
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
    default: known === 'write read' ? 'read write' : (known ?? 'read'),
  });
}
