import { text as readAll } from 'node:stream/consumers';
import type { CommandSpec, OptionSpec } from '../../cli/command.ts';
import { writeProfile } from '../../config/config-file.ts';
import type { ProfileSettings, SettingOverrides } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import { readClientSecret, writeClientSecret } from '../../session/client-secret.ts';
import { requireAvailable } from '../../session/credential-store.ts';
import { sessionBindingOf } from '../../session/session-binding.ts';
import { profileCommand } from '../../session/suggested-commands.ts';
import { serverOptions, settingOverrides } from './profile-options.ts';
import { askProfileValues } from './setup-questions.ts';

const options: readonly OptionSpec[] = [
  { name: 'client-id', valueName: 'ID', description: 'client ID of the registered application' },
  { name: 'client-secret-stdin', description: 'read the client secret from standard input' },
  {
    name: 'callback-url',
    valueName: 'URL',
    multiple: 'repeat',
    description: 'a registered callback URL on this machine; several are tried in order',
  },
  { name: 'scope', valueName: 'SCOPE', description: 'read or "read write"' },
  { name: 'flow', valueName: 'FLOW', description: 'code or implicit', choices: ['code', 'implicit'] },
  { name: 'issuer', valueName: 'ISSUER', description: 'what the server calls itself in `iss`, if it does' },
  ...serverOptions,
];

export const authSetupCommand: CommandSpec<Context> = {
  description:
    'Asks for the servers, the client ID, the callback URL, the scope and the client secret (hidden); what the profile holds already is the default. Every question has an option or a variable; the secret comes from standard input, CLOUDCTL_CLIENT_SECRET or the prompt, never from an option. The secret goes to the credential store, the rest to config.json.',
  options,
  examples: [
    { text: 'Be asked for everything', command: 'cloudctl auth setup' },
    {
      text: 'From a script, the secret from a file',
      command:
        'cloudctl auth setup --auth-url https://cloud.example.com --base-url https://api.example.com --client-id ID --client-secret-stdin --callback-url http://127.0.0.1:8765/callback --scope read --no-input < secret.txt',
    },
  ],
  run: async (context, words) => {
    const secret = words.has('client-secret-stdin') ? await readSecretFromStdin(context) : undefined;
    await runSetup(context, { typed: settingOverrides(words, options), secret, again: true });
    return 0;
  },
};

export interface SetupInput {
  readonly typed: SettingOverrides;
  readonly secret?: Secret | undefined;
  /** Asks in a terminal for what the profile holds already as well, so that it can be changed. */
  readonly again?: boolean;
}

/** Completes a profile by asking, stores the secret, then writes the profile. */
export async function runSetup(context: Context, input: SetupInput): Promise<void> {
  const settings = context.settings(input.typed);
  try {
    // Before anything is asked: whoever typed all of it would have typed it for nothing.
    if (context.prompts.interactive)
      requireAvailable(await context.store(settings).withItems((items) => items.read('client')), settings.profileName);
    await completeProfile(context, settings, input);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'keychain_unavailable') throw error;
    const isNamed = context.globals.value('profile') !== undefined || context.host.env.CLOUDCTL_PROFILE !== undefined;
    throw isNamed || context.prompts.interactive ? withFileStoreHint(error, settings) : error;
  }
}

/** The same error with the option of this very command: a profile that is named may not be there yet, to have its setting changed. */
function withFileStoreHint(error: CliError, { profileName }: ProfileSettings): CliError {
  const { message, detail, hint } = error;
  if (hint?.includes('credential_store file') !== true) return error;
  const command = profileCommand(profileName, 'auth setup --credential-store file');
  return new CliError(error.code, message, { detail, hint: `${command} keeps sessions in files of mode 0600 instead` });
}

async function completeProfile(
  context: Context,
  settings: ProfileSettings,
  { typed, secret, again = false }: SetupInput,
): Promise<void> {
  const asking = again && context.prompts.interactive;
  const values = await askProfileValues(context, settings, typed, asking);
  const clientSecret =
    values.flow === 'implicit' ? undefined : await askClientSecret(context, { ...settings, values }, secret, asking);
  const store = context.store({ ...settings, values });
  const { auth_url: authOrigin, client_id: clientId } = values;
  if (clientSecret !== undefined && authOrigin !== undefined && clientId !== undefined) {
    await writeClientSecret(store, { authOrigin, clientId }, clientSecret);
  }
  const path = await context.changeConfig((config) => {
    const name = settings.profileName;
    // The format of this run is not meant for every run: only `config set` writes it.
    const { output: _ofThisRun, ...lasting } = values;
    const output = config.profiles.get(name)?.output;
    const profile = { ...lasting, ...(output === undefined ? {} : { output }) };
    writeProfile(context.host.folders.config, config, name, profile, config.current ?? name);
    return config.path;
  });
  const shelf = store.kind === 'file' ? 'credential file' : 'keychain';
  const kept =
    values.flow === 'implicit' ? 'this flow needs no client secret' : `its client secret is kept in the ${shelf}`;
  await context.output.note(`Profile ${settings.profileName} is written to ${path}; ${kept}.`);
}

/** The secret to write; undefined when the one in the store is to stay. */
async function askClientSecret(
  context: Context,
  settings: ProfileSettings,
  typed: Secret | undefined,
  asking: boolean,
): Promise<Secret | undefined> {
  const given = typed ?? settings.clientSecret;
  if (given !== undefined) return given;
  const binding = sessionBindingOf(settings);
  const stored = binding === undefined ? undefined : await readClientSecret(context.store(settings), binding);
  if (stored !== undefined && !asking) return undefined;
  let keep = false;
  const secret = await context.prompts.askSecret({
    name: 'client secret',
    option: '--client-secret-stdin',
    variable: 'CLOUDCTL_CLIENT_SECRET',
    message: stored === undefined ? 'Client secret (hidden)' : 'Client secret (hidden; Enter keeps the stored one)',
    validate: (written) => {
      keep = written === '' && stored !== undefined;
      return keep || isSecretText(written) ? true : 'That is not 1 to 512 visible ASCII characters.';
    },
  });
  return keep ? undefined : secret;
}

async function readSecretFromStdin(context: Context): Promise<Secret> {
  if (context.host.stdin.isTTY === true)
    throw usageError(
      'standard input is a terminal',
      'pipe the secret in, as in `… --client-secret-stdin < secret.txt`',
    );
  const written = (await readAll(context.host.stdin)).trim();
  if (!isSecretText(written))
    throw usageError(
      'the client secret on standard input is not 1 to 512 visible ASCII characters',
      'pipe it in alone, as in `cloudctl auth setup --client-secret-stdin < secret.txt`',
    );
  return new Secret(written);
}

function isSecretText(text: string): boolean {
  return /^[\x21-\x7e]{1,512}$/.test(text);
}
