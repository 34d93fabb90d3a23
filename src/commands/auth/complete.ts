import type { Settings, TypedOptions } from '../../config/settings.ts';
import { requireProfile } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../errors.ts';
import type { Client } from '../../oauth/token-endpoint.ts';
import type { Binding } from '../../session/record.ts';
import { bindingOf } from '../../session/wiring.ts';
import { runSetup } from './setup.ts';

/** Everything a login needs. */
export interface Complete {
  readonly settings: Settings;
  readonly binding: Binding;
  readonly client: Client;
}

/** The settings of a login; in a terminal what is missing is asked for first, elsewhere it is a usage error that names it. */
export async function completeSettings(context: Context, typed: TypedOptions): Promise<Complete> {
  const first = await attempt(context, context.settings(typed));
  if (first.complete !== undefined) return first.complete;
  const settings = context.settings(typed);
  if (!context.prompts.interactive) {
    requireProfile(settings, context.config());
    throw missing(first.missing, settings.profileName);
  }
  await context.output.note(`Profile ${settings.profileName} is not set up yet.`);
  await runSetup(context, { typed });
  const second = await attempt(context, context.settings(typed));
  if (second.complete !== undefined) return second.complete;
  throw missing(second.missing, settings.profileName);
}

type Attempt = { readonly complete: Complete } | { readonly complete: undefined; readonly missing: readonly string[] };

async function attempt(context: Context, settings: Settings): Promise<Attempt> {
  const binding = bindingOf(settings);
  const { values } = settings;
  const keys = (['auth_url', 'base_url', 'client_id', 'callback_urls'] as const).filter(
    (key) => values[key] === undefined,
  );
  if (binding === undefined || keys.length > 0) return { complete: undefined, missing: keys };
  const client = await context.client(settings, binding);
  // A public client with PKCE exists at standard servers; spec.md §4.2 requires the secret.
  const needsSecret = values.flow !== 'implicit' && client.tokenParams === 'query' && client.clientSecret === undefined;
  return needsSecret
    ? { complete: undefined, missing: ['client secret'] }
    : { complete: { settings, binding, client } };
}

const ways: Readonly<Record<string, string>> = {
  auth_url: '--auth-url or CLOUDCTL_AUTH_URL',
  base_url: '--base-url or CLOUDCTL_BASE_URL',
  client_id: 'CLOUDCTL_CLIENT_ID, or --client-id of `cloudctl auth setup`',
  callback_urls: 'CLOUDCTL_CALLBACK_URL, or --callback-url of `cloudctl auth setup`',
  'client secret': 'CLOUDCTL_CLIENT_SECRET, or --client-secret-stdin of `cloudctl auth setup`',
};

function missing(keys: readonly string[], profile: string): Error {
  const nobody = 'there is no terminal to ask on, or --no-input was given';
  const [first = 'setting'] = keys;
  const text = `${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} missing for profile "${profile}"`;
  if (keys.length === 1) return usage(text, `give it by ${ways[first]}`, nobody);
  const each = keys.map((key) => `${key}: ${ways[key]}`);
  return usage(text, `run \`${setupCommand(profile)}\` in a terminal`, [nobody, ...each].join('\n'));
}

function setupCommand(profile: string): string {
  return profile === 'default' ? 'cloudctl auth setup' : `cloudctl auth setup --profile ${profile}`;
}
