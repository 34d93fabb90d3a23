import { text as readAll } from 'node:stream/consumers';
import type { CommandSpec, Words } from '../../cli/command.ts';
import { writeProfile } from '../../config/file.ts';
import { type Profile, type ProfileKey, profileKeys } from '../../config/profile.ts';
import type { Settings, TypedOptions } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../errors.ts';
import { isKnownScope } from '../../oauth/scope.ts';
import { Secret } from '../../secret.ts';
import { readClientSecret, writeClientSecret } from '../../session/client-secret.ts';
import { bindingOf } from '../../session/wiring.ts';

export const setup: CommandSpec<Context> = {
  summary: 'tell a profile its servers and its registered application',
  description:
    'Asks for the servers, the client ID, the client secret (hidden), the callback URL, scope and flow. Every question has an option or a variable; the secret comes from standard input, CLOUDCTL_CLIENT_SECRET or the prompt, never from an option. The secret goes to the credential store, the rest to config.json.',
  options: [
    { name: 'client-id', value: 'ID', description: 'client ID of the registered application' },
    { name: 'client-secret-stdin', description: 'read the client secret from standard input' },
    {
      name: 'callback-url',
      value: 'URL',
      many: 'repeat',
      description: 'a registered callback URL on this machine; several are tried in order',
    },
    { name: 'scope', value: 'SCOPE', description: 'read or "read write"' },
    { name: 'flow', value: 'FLOW', description: 'code or implicit', choices: ['code', 'implicit'] },
    { name: 'issuer', value: 'ISSUER', description: 'what the server calls itself in `iss`, if it does' },
    {
      name: 'token-params',
      value: 'PLACE',
      description: 'query, or body for standard servers',
      choices: ['query', 'body'],
    },
    { name: 'no-pkce', description: 'for servers that refuse PKCE' },
    {
      name: 'credential-store',
      value: 'STORE',
      description: 'keychain, or file for a file of mode 0600',
      choices: ['keychain', 'file'],
    },
  ],
  examples: [
    { text: 'Be asked for everything', command: 'cloudctl auth setup' },
    {
      text: 'From a script, the secret from a file',
      command:
        'cloudctl auth setup --auth-url https://cloud.example.com --base-url https://api.example.com --client-id ID --client-secret-stdin --callback-url http://127.0.0.1:8765/callback --scope read --no-input < secret.txt',
    },
  ],
  run: async (context, words) => {
    const secret = words.flag('client-secret-stdin') ? await secretFromStdin(context) : undefined;
    await runSetup(context, { typed: typedOptions(words), secret });
    return 0;
  },
};

export interface SetupInput {
  readonly typed: TypedOptions;
  readonly secret?: Secret | undefined;
}

/** Completes a profile by asking, stores the secret, then writes the profile. */
export async function runSetup(context: Context, { typed, secret }: SetupInput): Promise<void> {
  const settings = context.settings(typed);
  const values = await askMissing(context, settings, typed);
  const clientSecret =
    values.flow === 'implicit' ? undefined : await secretOf(context, { ...settings, values }, secret);
  const store = context.store({ ...settings, values });
  const { auth_url: authOrigin, client_id: clientId } = values;
  if (clientSecret !== undefined && authOrigin !== undefined && clientId !== undefined) {
    await writeClientSecret(store, { authOrigin, clientId }, clientSecret);
  }
  const path = await context.changeConfig((config) => {
    const current = config.current ?? settings.profileName;
    writeProfile(context.host.folders.config, config, settings.profileName, values, current);
    return config.path;
  });
  await context.output.note(
    `Profile ${settings.profileName} is written to ${path}; ${clientSecret === undefined ? 'no secret was needed' : `its client secret is kept in the ${store.kind === 'file' ? 'credential file' : 'keychain'}`}.`,
  );
}

/** Asked in this order; the default is shown and taken with Enter. */
const questions: readonly {
  readonly key: ProfileKey;
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
    message: 'Its callback URL',
    preset: 'http://127.0.0.1:8765/callback',
  },
];

async function askMissing(context: Context, settings: Settings, typed: TypedOptions): Promise<Profile> {
  let values: Profile = settings.values;
  for (const { key, name, option, message, preset } of questions) {
    if (values[key] !== undefined) continue;
    const { variable, parse } = profileKeys[key];
    const text = await context.prompts.ask({
      name,
      option,
      ...(variable === undefined ? {} : { variable }),
      message,
      ...(preset === undefined ? {} : { default: preset }),
      validate: (written) => {
        const parsed = parse(written.trim());
        return parsed.ok ? true : `That is ${parsed.reason}.`;
      },
    });
    const parsed = parse(text.trim());
    if (!parsed.ok) throw usage(`${name} is ${parsed.reason}`);
    values = { ...values, [key]: parsed.value };
  }
  const scope = values.scope ?? (await askScope(context));
  if (!isKnownScope(scope) && typed.scope !== undefined)
    throw usage(`scope "${scope}" is unknown`, 'use `--scope read` or `--scope "read write"`');
  const flow = values.flow ?? 'code';
  return { ...values, scope, flow };
}

async function askScope(context: Context): Promise<string> {
  if (!context.prompts.interactive) return 'read';
  return context.prompts.choose({
    name: 'scope',
    option: '--scope',
    variable: 'CLOUDCTL_SCOPE',
    message: 'Scope to ask for at login',
    choices: [
      { name: 'read: look, change nothing', value: 'read' },
      { name: 'read write: create and delete as well', value: 'read write' },
    ],
    default: 'read',
  });
}

async function secretOf(context: Context, settings: Settings, typed: Secret | undefined): Promise<Secret | undefined> {
  const given = typed ?? settings.clientSecret;
  if (given !== undefined) return given;
  const binding = bindingOf(settings);
  const stored = binding === undefined ? undefined : await readClientSecret(context.store(settings), binding);
  // Nothing to write again: it is in the store already.
  if (stored !== undefined) return undefined;
  const secret = await context.prompts.askSecret({
    name: 'client secret',
    option: '--client-secret-stdin',
    variable: 'CLOUDCTL_CLIENT_SECRET',
    message: 'Client secret (hidden)',
    validate: (written) => (isSecretText(written) ? true : 'That is not 1 to 512 visible ASCII characters.'),
  });
  return secret;
}

async function secretFromStdin(context: Context): Promise<Secret> {
  if (context.host.stdin.isTTY === true)
    throw usage('standard input is a terminal', 'pipe the secret in, as in `… --client-secret-stdin < secret.txt`');
  const written = (await readAll(context.host.stdin)).trim();
  if (!isSecretText(written))
    throw usage('the client secret on standard input is not 1 to 512 visible ASCII characters');
  return new Secret(written);
}

function isSecretText(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}

function typedOptions(words: Words): TypedOptions {
  const pairs: [ProfileKey, { option: string; text: string }][] = [];
  const take = (key: ProfileKey, option: string, text: string | undefined): void => {
    if (text !== undefined) pairs.push([key, { option: `--${option}`, text }]);
  };
  const callbacks = words.list('callback-url');
  take('client_id', 'client-id', words.text('client-id'));
  take('callback_urls', 'callback-url', callbacks.length === 0 ? undefined : callbacks.join(','));
  take('scope', 'scope', words.text('scope'));
  take('flow', 'flow', words.text('flow'));
  take('issuer', 'issuer', words.text('issuer'));
  take('token_params', 'token-params', words.text('token-params'));
  take('pkce', 'no-pkce', words.flag('no-pkce') ? 'false' : undefined);
  take('credential_store', 'credential-store', words.text('credential-store'));
  return Object.fromEntries(pairs);
}
