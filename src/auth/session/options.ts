import { isIPv4, isIPv6 } from 'node:net';
import { usageError } from '../../base/errors.ts';
import { isTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { quoteShellArg } from '../../base/text.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { shortenInput } from '../../cli/values.ts';
import type { SettingKey } from '../../config/profile.ts';
import type { ProfileSettings, TypedSettings } from '../../config/settings.ts';
import { isCi } from '../../platform/ci.ts';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';
import { type ListenAddress, type PeerNetwork, parseNetwork } from '../loopback/index.ts';
import { isKnownScope } from '../oauth/index.ts';

/** Options for the server and the credential store, which `auth setup` and `auth login` share. */
export const profileOptions: readonly OptionSpec[] = [
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
export function readProfileOptions(args: ParsedArgs, declared: readonly OptionSpec[]): TypedSettings {
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

const profileKeyByOption: Readonly<Record<string, SettingKey>> = {
  'client-id': 'client_id',
  'callback-url': 'callback_urls',
  scope: 'scope',
  flow: 'flow',
  issuer: 'issuer',
  'token-params': 'token_params',
  'no-pkce': 'pkce',
  'credential-store': 'credential_store',
};

/** Options for a login in a container, whose redirect arrives through a published port. */
export const listenOptions: readonly OptionSpec[] = [
  {
    name: 'callback-listen',
    valueName: 'ADDRESS',
    description:
      'address, or ADDRESS:PORT, on which to receive the redirect, such as 0.0.0.0 in a container (default: the callback URL)',
  },
  {
    name: 'allow-peer',
    valueName: 'CIDR',
    multiple: 'repeat',
    description: 'network that may send the redirect to --callback-listen, such as 172.17.0.1/32; no other peer may',
  },
];

/**
 * The address of the login's callback server; undefined without `--callback-listen`. Throws `usage` if `--allow-peer` is
 * missing for an address that other machines reach.
 */
export function readListenAddress(args: ParsedArgs): ListenAddress | undefined {
  const text = args.value('callback-listen');
  const networks = args.values('allow-peer').map(requirePeerNetwork);
  if (text === undefined) {
    if (networks.length === 0) return undefined;
    throw usageError('--allow-peer requires --callback-listen', 'add the address, such as `--callback-listen 0.0.0.0`');
  }
  for (const name of ['paste', 'with-token'])
    if (args.has(name)) throw usageError(`cannot use --callback-listen with --${name}`, `remove \`--${name}\``);
  const { address, port } = requireListenAddress(text);
  if (networks.length === 0 && !isLoopbackPeer(address))
    throw usageError(
      `--callback-listen ${address} requires --allow-peer, because other machines may reach this address`,
      'add the peer that forwards the port, such as `--allow-peer 172.17.0.1/32`',
      'in a container the peer is usually the gateway of the network: `ip route show default`',
    );
  return {
    address,
    ...(port === undefined ? {} : { port }),
    ...(networks.length === 0 ? {} : { allowedPeers: networks }),
  };
}

/** The warning that other machines may reach the login's callback server; undefined for a loopback address. */
export function exposureWarning({ address, allowedPeers }: ListenAddress): string | undefined {
  if (isLoopbackPeer(address)) return undefined;
  const peers = (allowedPeers ?? []).map(({ text }) => text).join(', ');
  return `the login listens on ${address}, which other machines may reach; the login answers only ${peers}`;
}

function requirePeerNetwork(text: string): PeerNetwork {
  const parsed = parseNetwork(text);
  if (parsed.ok) return parsed.network;
  throw usageError(
    `--allow-peer "${shortenInput(text)}" is ${parsed.reason}`,
    'pass the address of the peer, such as `--allow-peer 172.17.0.1/32`, or its network, such as `--allow-peer 172.17.0.0/16`',
  );
}

function requireListenAddress(text: string): { readonly address: string; readonly port: number | undefined } {
  if (isIPv6(text)) return { address: text, port: undefined };
  const [, ipv6, ipv4, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? '';
  const port = digits === undefined ? undefined : Number(digits);
  const isAddress = ipv6 === undefined ? isIPv4(address) : isIPv6(address);
  if (isAddress && (port ?? 1) <= 65_535) return { address, port };
  throw usageError(
    `--callback-listen is not an IP address with an optional port: ${shortenInput(text)}`,
    'pass an address such as `--callback-listen 0.0.0.0`, `0.0.0.0:9000` or `[::]:9000`',
  );
}

/** Refuses options that contradict each other before a page is opened. */
export function requireConsistent(settings: ProfileSettings, args: ParsedArgs): void {
  const { flow, scope } = settings.values;
  const hint = args.value('account-hint');
  if (scope !== undefined && !isKnownScope(scope) && !args.has('any-scope')) {
    throw usageError(
      `unknown scope "${sanitizeLine(scope)}"`,
      'use `--scope read` or `--scope "read write"`',
      '--any-scope accepts scopes of other servers',
    );
  }
  const team = args.value('team');
  if (team !== undefined && !isTeam(team))
    throw usageError('--team is neither a UUID nor personal', 'pass the UUID of the team, or `--team personal`');
  if (team !== undefined && flow === 'implicit')
    throw usageError(
      'cannot use --team with the implicit flow',
      'remove `--team`, or use `--flow code`',
      'the response of the implicit flow names no account',
    );
  if (flow === 'implicit' && args.value('prompt') !== undefined)
    throw usageError('cannot use --prompt with the implicit flow', 'remove `--prompt`');
  if (hint !== undefined && flow === 'implicit')
    throw usageError(
      'cannot use --account-hint with the implicit flow',
      'remove `--account-hint`, or use `--flow code`',
      'the response of the implicit flow names no account',
    );
  if (hint !== undefined && !/^[0-9a-f]{6}$/i.test(hint))
    throw usageError('--account-hint is not 6 hexadecimal digits', 'pass the first 6 characters of the account UUID');
  readListenAddress(args);
}

/**
 * In a CI job, and without a terminal where no input is wanted, no user sees the URL, so the login would wait until its time limit
 * expires. Returns true if the login depends on the program in BROWSER, which is started without a terminal then.
 */
export function requirePerson({ host, globals }: Pick<CommandIo, 'host' | 'globals'>, args: ParsedArgs): boolean {
  const { env, stdin, stderr } = host;
  if (stdin.isTTY === true || stderr.isTTY || args.has('no-browser') || args.has('paste')) return false;
  const browser = env.BROWSER?.trim() ?? '';
  if (globals.has('no-input')) {
    // With --callback-listen the browser is on another machine.
    if (browser !== '' && browser !== 'none' && !args.has('callback-listen')) return true;
    throw usageError(
      'cannot log in: --no-input was given, and neither standard input nor standard error is a terminal',
      'add `--no-browser`, which prints the URL and waits, or `--paste`, which reads `CODE STATE` from standard input',
    );
  }
  if (!isCi(env) || browser !== '') return false;
  throw usageError(
    'cannot log in: CI is set, and neither standard input nor standard error is a terminal',
    'set CLOUDCTL_ACCESS_TOKEN to an access token, or log in elsewhere; `--no-browser` prints the URL and waits',
  );
}

/**
 * Options that `loginRetries` adds itself, an option for one token, without which a failed login is repeated, and a time limit,
 * which may have been too short.
 */
const notRepeated: readonly string[] = [
  ...['flow', 'scope', 'any-scope', 'team', 'account-hint'],
  ...['with-token', 'login-timeout'],
];

/** Global options that choose the servers of the login. */
const serverOptionNames: readonly string[] = ['auth-url', 'base-url'];

/**
 * The options of `auth login` that the user typed, for a command that repeats the login: one element for each option with its
 * value, quoted for a shell.
 */
export function typedOptions(
  args: ParsedArgs,
  globals: ParsedArgs,
  declared: readonly OptionSpec[],
): readonly string[] {
  const own = declared.flatMap(({ name, valueName }) => {
    if (notRepeated.includes(name) || !args.has(name)) return [];
    if (valueName === undefined) return [`--${name}`];
    const values = args.values(name).filter((value) => name !== 'prompt' || value !== 'none');
    return values.map((value) => `--${name} ${quoteShellArg(value)}`);
  });
  const servers = serverOptionNames.flatMap((name) => {
    const value = globals.value(name);
    return value === undefined ? [] : [`--${name} ${quoteShellArg(value)}`];
  });
  return [...own, ...servers];
}
