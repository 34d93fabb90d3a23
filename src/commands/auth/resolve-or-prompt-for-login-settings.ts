import { usageError } from '../../base/errors.ts';
import { nearestWord } from '../../cli/values.ts';
import {
  type Binding,
  commandFor,
  findBinding,
  type ProfileReference,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
  requireNamedProfileExists,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { runProfileSetup } from './setup.ts';

/** The complete settings that a login needs. */
interface LoginSettings {
  readonly settings: ResolvedProfileSettings;
  readonly binding: Binding;
}

/**
 * Resolves the settings of a login. In a terminal the user is prompted for missing values; otherwise missing values are a usage
 * error that names them.
 */
export async function resolveOrPromptForLoginSettings(
  context: CommandContext,
  typed: ProfileSettingsFromOptions,
): Promise<LoginSettings> {
  const first = await readLoginSettings(context, context.sessionSettings(typed));
  if (first.complete !== undefined) return first.complete;
  const settings = context.sessionSettings(typed);
  if (!context.prompts.interactive) {
    requireNamedProfileExists(settings, context.config(), nearestWord);
    throw missingProfileSettingsError(first.missing, settings.profile);
  }
  await context.output.note(`Profile ${settings.profileName} is not complete yet.`);
  await runProfileSetup(context, { typed });
  const second = await readLoginSettings(context, context.sessionSettings(typed));
  if (second.complete !== undefined) return second.complete;
  throw missingProfileSettingsError(second.missing, settings.profile);
}

type LoginSettingsResult =
  | { readonly complete: LoginSettings }
  | { readonly complete: undefined; readonly missing: readonly string[] };

async function readLoginSettings(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<LoginSettingsResult> {
  const binding = findBinding(settings);
  const { values } = settings;
  const keys = (['auth_url', 'base_url', 'client_id', 'callback_urls'] as const).filter(
    (key) => values[key] === undefined,
  );
  if (binding === undefined || keys.length > 0) return { complete: undefined, missing: keys };
  const client = await (await context.sessionRun(settings, binding)).client();
  // Standard servers accept a public client with PKCE, but the service requires the client secret (docs/service.md S5.2).
  const needsSecret = values.flow !== 'implicit' && client.tokenParams === 'query' && client.clientSecret === undefined;
  return needsSecret ? { complete: undefined, missing: ['client secret'] } : { complete: { settings, binding } };
}

const settingSources: Readonly<Record<string, string>> = {
  auth_url: '--auth-url or CLOUDCTL_AUTH_URL',
  base_url: '--base-url or CLOUDCTL_BASE_URL',
  client_id: 'CLOUDCTL_CLIENT_ID, or --client-id to `cloudctl auth setup`',
  callback_urls: 'CLOUDCTL_CALLBACK_URL, or --callback-url to `cloudctl auth setup`',
  'client secret': 'CLOUDCTL_CLIENT_SECRET, or --client-secret-stdin to `cloudctl auth setup`',
};

const cannotPrompt = 'cannot prompt: standard input or standard error is not a terminal, or --no-input was given';

export function missingProfileSettingsError(
  keys: readonly string[],
  profile: ProfileReference,
  reason = cannotPrompt,
): Error {
  const [first = 'setting'] = keys;
  const text = `${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} missing for profile "${profile.name}"`;
  if (keys.length === 1) return usageError(text, `pass ${settingSources[first]}`, reason);
  const each = keys.map((key) => `${key}: ${settingSources[key]}`);
  if (keys.join() === 'client_id,callback_urls')
    return usageError(
      `profile "${profile.name}" cannot log in through the browser: it has no client_id and no callback_urls`,
      `store an access token: ${commandFor(profile, 'auth login --with-token')}`,
      [reason, ...each].join('\n'),
    );
  return usageError(text, `run ${commandFor(profile, 'auth setup')} in a terminal`, [reason, ...each].join('\n'));
}
