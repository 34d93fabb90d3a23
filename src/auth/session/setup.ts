import { text as readAll } from 'node:stream/consumers';
import { CliError, usageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { nearestWord } from '../../cli/values.ts';
import { writeProfile } from '../../config/config-file.ts';
import { type Profile, type SettingKey, settingSpecs } from '../../config/profile.ts';
import {
  type Binding,
  commandFor,
  findBinding,
  type ProfileReference,
  type ProfileSettings,
  requireNamedProfile,
  type TypedSettings,
  variableValue,
} from '../../config/settings.ts';
import { isKnownScope } from '../oauth/index.ts';
import type { ProfileCommand } from './sessions.ts';
import { readClientSecret, requireAvailable, writeClientSecret } from './store.ts';

/** The complete settings that a login needs. */
interface LoginSettings {
  readonly settings: ProfileSettings;
  readonly binding: Binding;
}

/**
 * Resolves the settings of a login. In a terminal the user is prompted for missing values; otherwise missing values are a usage
 * error that names them.
 */
export async function completeSettings(command: ProfileCommand, typed: TypedSettings): Promise<LoginSettings> {
  const first = await readLoginSettings(command, command.sessionSettings(typed));
  if (first.complete !== undefined) return first.complete;
  const settings = command.sessionSettings(typed);
  if (!command.prompts.interactive) {
    requireNamedProfile(settings, command.config(), nearestWord);
    throw missingError(first.missing, settings.profile);
  }
  await command.output.note(`Profile ${settings.profileName} is not complete yet.`);
  await setUp(command, { typed });
  const second = await readLoginSettings(command, command.sessionSettings(typed));
  if (second.complete !== undefined) return second.complete;
  throw missingError(second.missing, settings.profile);
}

type LoginSettingsResult =
  | { readonly complete: LoginSettings }
  | { readonly complete: undefined; readonly missing: readonly string[] };

async function readLoginSettings(command: ProfileCommand, settings: ProfileSettings): Promise<LoginSettingsResult> {
  const binding = findBinding(settings);
  const { values } = settings;
  const keys = (['auth_url', 'base_url', 'client_id', 'callback_urls'] as const).filter(
    (key) => values[key] === undefined,
  );
  if (binding === undefined || keys.length > 0) return { complete: undefined, missing: keys };
  const client = await (await command.sessionRun(settings, binding)).client();
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

export function missingError(keys: readonly string[], profile: ProfileReference, reason = cannotPrompt): Error {
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

interface SetupInput {
  readonly typed: TypedSettings;
  readonly secret?: Secret | undefined;
  /** Whether to prompt also for values that the profile already has, so that the user can change them. */
  readonly again?: boolean;
}

/** Prompts for missing values, stores the client secret, then writes the profile to config.json. */
export async function setUp(command: ProfileCommand, input: SetupInput): Promise<void> {
  const settings = command.sessionSettings(input.typed);
  try {
    await completeProfile(command, await withAvailableStore(command, settings), input);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'keychain_unavailable') throw error;
    const isNamed = command.globals.value('profile') !== undefined || command.host.env.CLOUDCTL_PROFILE !== undefined;
    throw isNamed || command.prompts.interactive ? withFileStoreHint(error, settings) : error;
  }
}

/**
 * In a terminal the credential store is checked before the prompts, so that the user does not type answers for nothing. On a
 * machine without a keychain the user can choose the file store.
 */
async function withAvailableStore(command: ProfileCommand, settings: ProfileSettings): Promise<ProfileSettings> {
  if (!command.prompts.interactive) return settings;
  const { credential_store = findModel(command, settings).values.credential_store } = settings.values;
  const chosen = credential_store === undefined ? settings : withStore(settings, credential_store);
  const read = await (await command.store(chosen)).withItems((items) => items.read('client'));
  if (read.kind === 'unavailable' && read.why === 'missing') {
    const message = 'This machine has no keychain. Store the session and the client secret in files with mode 0600?';
    if (await command.prompts.confirm({ message, default: true, option: '--credential-store file' }))
      return withStore(settings, 'file');
  }
  requireAvailable(read, settings.profile);
  return chosen;
}

function withStore(settings: ProfileSettings, credential_store: 'keychain' | 'file'): ProfileSettings {
  return { ...settings, values: { ...settings.values, credential_store } };
}

interface Model {
  /** Undefined if there is no other profile. */
  readonly name: string | undefined;
  readonly values: Profile;
}

/** The profile whose values a new profile gets as defaults: the current one, or the only one. */
function findModel(command: ProfileCommand, settings: ProfileSettings): Model {
  const { current, profiles } = command.config();
  const [first, ...others] = profiles.keys();
  const name = current ?? (others.length === 0 ? first : undefined);
  const values = name === undefined ? undefined : profiles.get(name);
  return settings.isProfileStored || values === undefined ? { name: undefined, values: {} } : { name, values };
}

/** The same error with a hint to use --credential-store, because `config set` cannot change a profile that does not exist yet. */
function withFileStoreHint(error: CliError, { profile }: ProfileSettings): CliError {
  const { message, detail, hint } = error;
  if (hint?.includes('credential_store file') !== true) return error;
  const command = commandFor(profile, 'auth setup --credential-store file');
  return new CliError(error.code, message, { detail, hint: `store sessions in files with mode 0600: ${command}` });
}

async function completeProfile(
  command: ProfileCommand,
  settings: ProfileSettings,
  { typed, secret, again = false }: SetupInput,
): Promise<void> {
  const asking = again && command.prompts.interactive;
  const model = command.prompts.interactive ? findModel(command, settings) : { name: undefined, values: {} };
  const isAboutApplication = Object.keys(typed).some((key) => key !== 'credential_store');
  const mayBeTokenOnly =
    again &&
    !isAboutApplication &&
    settings.values.callback_urls === undefined &&
    (secret ?? settings.clientSecret) === undefined;
  const values = await askValues(command, settings, typed, { asking, mayBeTokenOnly, model: model.values });
  const clientSecret = await answerClientSecret(command, { ...settings, values }, secret, asking, model);
  const store = await command.store({ ...settings, values });
  const { auth_url: authOrigin, client_id: clientId } = values;
  if (clientSecret.kind === 'new' && authOrigin !== undefined && clientId !== undefined) {
    await writeClientSecret(store, { authOrigin, clientId }, clientSecret.secret);
  }
  const path = await command.changeConfig((config) => {
    const name = settings.profileName;
    // The option --output applies to this run only; `config set` changes the default.
    const { output: _ofThisRun, ...lasting } = values;
    const output = config.profiles.get(name)?.output;
    const profile = { ...lasting, ...(output === undefined ? {} : { output }) };
    writeProfile(command.host.folders.config, config, name, profile, config.current ?? name);
    return config.path;
  });
  const stored = describeStoredSecret(clientSecret.kind, store.name);
  const how = clientSecret.kind === 'none' ? 'auth login --with-token' : 'auth login';
  // A login that prompted for the settings prints the name of the store itself and then continues.
  await command.output.note([
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
  command: ProfileCommand,
  settings: ProfileSettings,
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
  const stored = binding === undefined ? undefined : await readClientSecret(await command.store(settings), binding);
  if (stored !== undefined && !asking) return { kind: 'stored' };
  // Native applications are usually public clients (RFC 8252 §8.5), which send their client ID in the body. The service of
  // docs/service.md, which alone reads credentials from the query, requires the secret (S5.2), and HTTP Basic is for secrets.
  const mayBePublic = values.token_params === 'body';
  if (mayBePublic && !command.prompts.interactive) return { kind: 'public' };
  const ofModel = stored === undefined ? await readSecretOfModel(command, settings, model) : undefined;
  const unanswered: { readonly answer: ClientSecretAnswer; readonly hint: string } | undefined =
    stored !== undefined
      ? { answer: { kind: 'stored' }, hint: '; Enter keeps the stored one' }
      : ofModel !== undefined
        ? { answer: { kind: 'new', secret: ofModel }, hint: `; Enter uses that of profile ${model.name}` }
        : mayBePublic
          ? { answer: { kind: 'public' }, hint: '; Enter for a public client' }
          : undefined;
  let isEmpty = false;
  const secret = await command.prompts.askSecret({
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
  command: ProfileCommand,
  { values }: ProfileSettings,
  model: Model,
): Promise<Secret | undefined> {
  const binding = findBinding({ values });
  const { auth_url, client_id } = model.values;
  if (model.name === undefined || binding === undefined) return undefined;
  if (auth_url !== binding.authOrigin || client_id !== binding.clientId) return undefined;
  try {
    return await readClientSecret(await command.store(command.storedSettings(model.name)), binding);
  } catch (error) {
    if (error instanceof CliError && error.code === 'keychain_unavailable') return undefined;
    throw error;
  }
}

interface ProfileQuestions {
  /** Whether existing values are also asked for, and shown as defaults. */
  readonly asking: boolean;
  /** Whether the profile may have no application, because no option or variable describes one. */
  readonly mayBeTokenOnly: boolean;
  /** The values of another profile, shown as defaults where this profile has none. */
  readonly model: Profile;
}

/** Prompts for the missing values of a profile. */
async function askValues(
  command: ProfileCommand,
  settings: ProfileSettings,
  typed: TypedSettings,
  { asking, mayBeTokenOnly, model }: ProfileQuestions,
): Promise<Profile> {
  let values: Profile = settings.values;
  for (const { key, name, option, message, preset } of profileQuestions) {
    if (values[key] !== undefined && !(asking && isFromConfigFile(command, typed, key))) continue;
    const isOptional = key === 'client_id' && mayBeTokenOnly && values.client_id === undefined;
    if (isOptional && !command.prompts.interactive) return values;
    const { variable, parse } = settingSpecs[key];
    const shown = defaultText(values[key] ?? model[key]) ?? preset;
    const text = await command.prompts.ask({
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
  const scope = await askScope(command, values.scope, model.scope, typed, asking);
  return { ...all, scope, flow: all.flow ?? 'code' };
}

/** Settings in the order of the prompts. */
const profileQuestions: readonly {
  readonly key: SettingKey;
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
function isFromConfigFile(command: ProfileCommand, typed: TypedSettings, key: SettingKey): boolean {
  const { variable } = settingSpecs[key];
  const option = key === 'auth_url' ? 'auth-url' : key === 'base_url' ? 'base-url' : undefined;
  if (typed[key] !== undefined || (option !== undefined && command.globals.value(option) !== undefined)) return false;
  return variable === undefined || variableValue(command.host.env[variable]) === undefined;
}

function defaultText(value: Profile[SettingKey]): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(',') : String(value);
}

async function askScope(
  command: ProfileCommand,
  known: string | undefined,
  preset: string | undefined,
  typed: TypedSettings,
  asking: boolean,
): Promise<string> {
  /**
   * A scope that the service does not know was set for another server, so the prompt, which offers only two scopes, is
   * skipped.
   */
  const stays = known !== undefined && !(asking && isKnownScope(known) && isFromConfigFile(command, typed, 'scope'));
  if (stays) return known;
  if (!command.prompts.interactive) return 'read';
  return command.prompts.choose({
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

export async function readSecret(command: CommandIo): Promise<Secret> {
  if (command.host.stdin.isTTY === true)
    throw usageError(
      'standard input is a terminal',
      'redirect a file that holds the secret: `… --client-secret-stdin < secret.txt`',
    );
  const written = (await readAll(command.host.stdin)).trim();
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
