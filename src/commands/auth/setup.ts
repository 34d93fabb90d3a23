import { text as readAll } from 'node:stream/consumers';
import { readClientSecret, requireAvailable, requireOwnSession, writeClientSecret } from '../../auth/session/index.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { CommandSpec, OptionSpec } from '../../cli/command.ts';
import { writeProfile } from '../../config/config-file.ts';
import type { Profile } from '../../config/profile.ts';
import {
  commandFor,
  findBinding,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { askProfileValues, profileSettingsOptionSpecs, readProfileSettingsFromOptions } from './profile-values.ts';

const options: readonly OptionSpec[] = [
  { name: 'client-id', valueName: 'ID', description: 'client ID of the registered application' },
  { name: 'client-secret-stdin', description: 'read the client secret from standard input' },
  {
    name: 'callback-url',
    valueName: 'URL',
    multiple: 'repeat',
    description: 'registered callback URL on this machine; several are tried in order',
  },
  {
    name: 'scope',
    valueName: 'SCOPE',
    description: 'scope to request at login: read or "read write" (default: read)',
    completion: ['read', 'read write'],
  },
  {
    name: 'flow',
    valueName: 'FLOW',
    description: 'authorization flow: code or implicit (default: code)',
    choices: ['code', 'implicit'],
  },
  { name: 'issuer', valueName: 'ISSUER', description: 'issuer identifier that the server sends as `iss` (RFC 9207)' },
  ...profileSettingsOptionSpecs,
];

export const authSetupCommand: CommandSpec<CommandContext> = {
  description:
    'Prompts for the servers, the client ID, the callback URL, the scope and the client secret (hidden), with the values of the profile, or of the current profile, as defaults. With the two URLs alone, the profile can hold an access token of `auth login --with-token`. Every prompt has an option or an environment variable; the secret is read from standard input, CLOUDCTL_CLIENT_SECRET or the prompt, never from an option. The secret is stored in the credential store, the rest in config.json.',
  options,
  examples: [
    { text: 'Answer the prompts', command: 'cloudctl auth setup' },
    {
      text: 'Set up a profile for access tokens that were issued elsewhere',
      command:
        'cloudctl auth setup --auth-url https://cloud.example.com --base-url https://api.example.com --no-input && cloudctl auth login --with-token < token.txt',
    },
    {
      text: 'Set up from a script, with the secret in a file',
      command:
        'cloudctl auth setup --auth-url https://cloud.example.com --base-url https://api.example.com --client-id ID --client-secret-stdin --callback-url http://127.0.0.1:8765/callback --scope read --no-input < secret.txt',
    },
  ],
  run: async (context, args) => {
    requireOwnSession(context.sessionSettings());
    const secret = args.has('client-secret-stdin') ? await readSecretFromStdin(context) : undefined;
    await runProfileSetup(context, { typed: readProfileSettingsFromOptions(args, options), secret, again: true });
    return 0;
  },
};

interface ProfileSetupInput {
  readonly typed: ProfileSettingsFromOptions;
  readonly secret?: Secret | undefined;
  /** Whether to prompt also for values that the profile already has, so that the user can change them. */
  readonly again?: boolean;
}

/** Prompts for missing values, stores the client secret, then writes the profile to config.json. */
export async function runProfileSetup(context: CommandContext, input: ProfileSetupInput): Promise<void> {
  const settings = context.sessionSettings(input.typed);
  try {
    await completeProfile(context, await withAvailableStore(context, settings), input);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'keychain_unavailable') throw error;
    const isNamed = context.globals.value('profile') !== undefined || context.host.env.CLOUDCTL_PROFILE !== undefined;
    throw isNamed || context.prompts.interactive ? withFileStoreHint(error, settings) : error;
  }
}

/**
 * In a terminal the credential store is checked before the prompts, so that the user does not type answers for nothing. On a
 * machine without a keychain the user can choose the file store.
 */
async function withAvailableStore(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<ResolvedProfileSettings> {
  if (!context.prompts.interactive) return settings;
  const { credential_store = findModel(context, settings).values.credential_store } = settings.values;
  const chosen = credential_store === undefined ? settings : withStore(settings, credential_store);
  const read = await (await context.store(chosen)).withItems((items) => items.read('client'));
  if (read.kind === 'unavailable' && read.why === 'missing') {
    const message = 'This machine has no keychain. Store the session and the client secret in files with mode 0600?';
    if (await context.prompts.confirm({ message, default: true, option: '--credential-store file' }))
      return withStore(settings, 'file');
  }
  requireAvailable(read, settings.profile);
  return chosen;
}

function withStore(settings: ResolvedProfileSettings, credential_store: 'keychain' | 'file'): ResolvedProfileSettings {
  return { ...settings, values: { ...settings.values, credential_store } };
}

interface Model {
  /** Undefined if there is no other profile. */
  readonly name: string | undefined;
  readonly values: Profile;
}

/** The profile whose values a new profile gets as defaults: the current one, or the only one. */
function findModel(context: CommandContext, settings: ResolvedProfileSettings): Model {
  const { current, profiles } = context.config();
  const [first, ...others] = profiles.keys();
  const name = current ?? (others.length === 0 ? first : undefined);
  const values = name === undefined ? undefined : profiles.get(name);
  return settings.isProfileStored || values === undefined ? { name: undefined, values: {} } : { name, values };
}

/** The same error with a hint to use --credential-store, because `config set` cannot change a profile that does not exist yet. */
function withFileStoreHint(error: CliError, { profile }: ResolvedProfileSettings): CliError {
  const { message, detail, hint } = error;
  if (hint?.includes('credential_store file') !== true) return error;
  const command = commandFor(profile, 'auth setup --credential-store file');
  return new CliError(error.code, message, { detail, hint: `store sessions in files with mode 0600: ${command}` });
}

async function completeProfile(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  { typed, secret, again = false }: ProfileSetupInput,
): Promise<void> {
  const asking = again && context.prompts.interactive;
  const model = context.prompts.interactive ? findModel(context, settings) : { name: undefined, values: {} };
  const isAboutApplication = Object.keys(typed).some((key) => key !== 'credential_store');
  const mayBeTokenOnly =
    again &&
    !isAboutApplication &&
    settings.values.callback_urls === undefined &&
    (secret ?? settings.clientSecret) === undefined;
  const values = await askProfileValues(context, settings, typed, { asking, mayBeTokenOnly, model: model.values });
  const clientSecret = await answerClientSecret(context, { ...settings, values }, secret, asking, model);
  const store = await context.store({ ...settings, values });
  const { auth_url: authOrigin, client_id: clientId } = values;
  if (clientSecret.kind === 'new' && authOrigin !== undefined && clientId !== undefined) {
    await writeClientSecret(store, { authOrigin, clientId }, clientSecret.secret);
  }
  const path = await context.changeConfig((config) => {
    const name = settings.profileName;
    // The option --output applies to this run only; `config set` changes the default.
    const { output: _ofThisRun, ...lasting } = values;
    const output = config.profiles.get(name)?.output;
    const profile = { ...lasting, ...(output === undefined ? {} : { output }) };
    writeProfile(context.host.folders.config, config, name, profile, config.current ?? name);
    return config.path;
  });
  const stored = describeStoredSecret(clientSecret.kind, store.name);
  const how = clientSecret.kind === 'none' ? 'auth login --with-token' : 'auth login';
  // A login that prompted for the settings prints the name of the store itself and then continues.
  await context.output.note([
    `Profile ${settings.profileName} was written to ${path}${again ? stored : ''}.`,
    ...(again ? [`To log in, run ${commandFor(settings.profile, how)}.`] : []),
  ]);
}

/**
 * `stored`: the stored client secret is kept. `public`: the application has none. `implicit`: the flow uses none. `none`: the
 * profile has no application.
 */
type ClientSecretAnswer =
  | { readonly kind: 'new'; readonly secret: Secret }
  | { readonly kind: 'stored' | 'public' | 'implicit' | 'none' };

function describeStoredSecret(kind: ClientSecretAnswer['kind'], storeName: string): string {
  if (kind === 'implicit') return '; the implicit flow needs no client secret';
  if (kind === 'none')
    return '; it has no application, so it cannot log in through the browser, and its access token cannot be renewed';
  if (kind === 'public') return '; no client secret is stored, because a public client has none';
  return `; the client secret is stored in the ${storeName}`;
}

async function answerClientSecret(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  typed: Secret | undefined,
  asking: boolean,
  model: Model,
): Promise<ClientSecretAnswer> {
  const { values } = settings;
  if (values.client_id === undefined) return { kind: 'none' };
  if (values.flow === 'implicit') return { kind: 'implicit' };
  const given = typed ?? settings.clientSecret;
  if (given !== undefined) return { kind: 'new', secret: given };
  const binding = findBinding(settings);
  const stored = binding === undefined ? undefined : await readClientSecret(await context.store(settings), binding);
  if (stored !== undefined && !asking) return { kind: 'stored' };
  // Native applications are usually public clients (RFC 8252 §8.5), which send their client ID in the body. The service of
  // docs/service.md, which alone reads credentials from the query, requires the secret (S5.2), and HTTP Basic is for secrets.
  const mayBePublic = values.token_params === 'body';
  if (mayBePublic && !context.prompts.interactive) return { kind: 'public' };
  const ofModel = stored === undefined ? await readSecretOfModel(context, settings, model) : undefined;
  const unanswered: { readonly answer: ClientSecretAnswer; readonly hint: string } | undefined =
    stored !== undefined
      ? { answer: { kind: 'stored' }, hint: '; Enter keeps the stored one' }
      : ofModel !== undefined
        ? { answer: { kind: 'new', secret: ofModel }, hint: `; Enter uses that of profile ${model.name}` }
        : mayBePublic
          ? { answer: { kind: 'public' }, hint: '; Enter for a public client' }
          : undefined;
  let isEmpty = false;
  const secret = await context.prompts.askSecret({
    name: 'client secret',
    option: '--client-secret-stdin',
    variable: 'CLOUDCTL_CLIENT_SECRET',
    message: `Client secret (hidden${unanswered?.hint ?? ''})`,
    validate: (written) => {
      isEmpty = written === '';
      const isValid = isEmpty ? unanswered !== undefined : isSecretText(written);
      return isValid ? true : 'The secret is not 1 to 512 visible ASCII characters.';
    },
  });
  return isEmpty && unanswered !== undefined ? unanswered.answer : { kind: 'new', secret };
}

/** The client secret of the other profile, if both profiles have the same application. */
async function readSecretOfModel(
  context: CommandContext,
  { values }: ResolvedProfileSettings,
  model: Model,
): Promise<Secret | undefined> {
  const binding = findBinding({ values });
  const { auth_url, client_id } = model.values;
  if (model.name === undefined || binding === undefined) return undefined;
  if (auth_url !== binding.authOrigin || client_id !== binding.clientId) return undefined;
  try {
    return await readClientSecret(await context.store(context.storedSettings(model.name)), binding);
  } catch (error) {
    if (error instanceof CliError && error.code === 'keychain_unavailable') return undefined;
    throw error;
  }
}

async function readSecretFromStdin(context: CommandContext): Promise<Secret> {
  if (context.host.stdin.isTTY === true)
    throw usageError(
      'standard input is a terminal',
      'redirect a file that holds the secret: `… --client-secret-stdin < secret.txt`',
    );
  const written = (await readAll(context.host.stdin)).trim();
  if (!isSecretText(written))
    throw usageError(
      'the client secret on standard input is not 1 to 512 visible ASCII characters',
      'redirect a file that holds the secret alone: `cloudctl auth setup --client-secret-stdin < secret.txt`',
    );
  return new Secret(written);
}

function isSecretText(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}
