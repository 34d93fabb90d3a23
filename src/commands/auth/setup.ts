import { profileOptions, readProfileOptions, readSecret, requireOwnSession, setUp } from '../../auth/session/index.ts';
import type { CommandSpec, OptionSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';

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
  ...profileOptions,
];

export const authSetup: CommandSpec<CommandContext> = {
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
    const secret = args.has('client-secret-stdin') ? await readSecret(context) : undefined;
    await setUp(context, { typed: readProfileOptions(args, options), secret, again: true });
    return 0;
  },
};
