import {
  listenOptions,
  loginFields,
  loginInBrowser,
  loginWithToken,
  profileOptions,
  readProfileOptions,
  requireConsistent,
  requireOwnSession,
} from '../../auth/session/index.ts';
import type { CommandSpec, OptionSpec } from '../../cli/command.ts';
import type { CommandContext } from '../../context.ts';
import { warnOfToken } from './environment-token.ts';

const options: readonly OptionSpec[] = [
  {
    name: 'flow',
    valueName: 'FLOW',
    description: 'authorization flow: code, or implicit for applications without a secret (default: code)',
    choices: ['code', 'implicit'],
  },
  {
    name: 'scope',
    valueName: 'SCOPE',
    description: 'scope to request: read or "read write" (default: read)',
    completion: ['read', 'read write'],
  },
  { name: 'any-scope', description: 'accept any value of --scope, for servers with other scopes' },
  {
    name: 'prompt',
    valueName: 'PROMPT',
    description: 'none: no page if the browser is signed in; select_account: always choose the account',
    choices: ['none', 'select_account'],
  },
  {
    name: 'account-hint',
    valueName: '6HEX',
    description: 'first 6 characters of the UUID that the account must have',
  },
  {
    name: 'team',
    valueName: 'TEAM',
    description: 'context that the session must have: UUID of a team, or personal',
    completion: ['personal'],
  },
  { name: 'no-browser', description: 'print the authorization URL without opening a browser' },
  { name: 'paste', description: 'paste the address of the last page instead of listening on a port' },
  {
    name: 'with-token',
    description: 'store an access token from standard input, or from a hidden prompt; it cannot be renewed',
  },
  ...listenOptions,
  { name: 'login-timeout', valueName: 'DURATION', description: 'time limit of the login in the browser (default: 5m)' },
  { name: 'accept-scope', description: 'keep the session if the granted scope differs from the requested one' },
  { name: 'force', description: 'in a terminal, replace a valid session without confirmation' },
  ...profileOptions,
];

export const authLogin: CommandSpec<CommandContext> = {
  description:
    'Opens the sign-in page in the browser, receives the redirect on the loopback interface, exchanges the authorization code and stores the session in the keychain of the operating system. Instead of the redirect you can paste the address of the last page, or `CODE STATE`; the first with the right state is used.',
  options,
  examples: [
    { text: 'Log in with read access', command: 'cloudctl auth login' },
    { text: 'Log in with read and write access', command: 'cloudctl auth login --scope "read write"' },
    {
      text: 'Log in inside a container that publishes port 8765 on 127.0.0.1 of its host',
      command: 'cloudctl auth login --callback-listen 0.0.0.0 --allow-peer 172.17.0.1/32',
    },
    { text: 'Log in on a server, with a browser on another machine', command: 'cloudctl auth login --paste' },
    {
      text: 'Store an access token that was issued elsewhere, from a file',
      command: 'cloudctl auth login --with-token < token.txt',
    },
  ],
  fields: loginFields,
  run: warnOfToken(async (context, args) => {
    const typed = readProfileOptions(args, options);
    requireOwnSession(context.sessionSettings(typed));
    requireConsistent(context.sessionSettings(typed), args);
    return args.has('with-token')
      ? loginWithToken(context, args, typed)
      : loginInBrowser(context, args, typed, options);
  }),
};
