import { isIPv4, isIPv6 } from 'node:net';
import { type ListenAddress, type PeerNetwork, parseNetwork } from '../../auth/loopback/index.ts';
import { usageError } from '../../base/errors.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { shortenInputForError } from '../../cli/values.ts';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';

/** Options for a login in a container, whose redirect arrives through a published port. */
export const callbackListenOptionSpecs: readonly OptionSpec[] = [
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
export function readCallbackListenOptions(args: ParsedArgs): ListenAddress | undefined {
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
export function exposedListenerWarning({ address, allowedPeers }: ListenAddress): string | undefined {
  if (isLoopbackPeer(address)) return undefined;
  const peers = (allowedPeers ?? []).map(({ text }) => text).join(', ');
  return `the login listens on ${address}, which other machines may reach; the login answers only ${peers}`;
}

function requirePeerNetwork(text: string): PeerNetwork {
  const parsed = parseNetwork(text);
  if (parsed.ok) return parsed.network;
  throw usageError(
    `--allow-peer "${shortenInputForError(text)}" is ${parsed.reason}`,
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
    `--callback-listen is not an IP address with an optional port: ${shortenInputForError(text)}`,
    'pass an address such as `--callback-listen 0.0.0.0`, `0.0.0.0:9000` or `[::]:9000`',
  );
}

/**
 * Options that `loginRetries` adds itself (`flow`, `scope`, `any-scope`, `team`), options for one account or one
 * token, without which a failed login is repeated, and a time limit, which may have been too short.
 */
const notRepeated: readonly string[] = [
  ...['flow', 'scope', 'any-scope', 'team'],
  ...['account-hint', 'with-token', 'login-timeout'],
];

/** Global options that choose the servers of the login. */
const serverOptionNames: readonly string[] = ['auth-url', 'base-url'];

/**
 * The options of `auth login` that the user typed, for a command that repeats the login: one element for each option with its
 * value, quoted for a shell.
 */
export function formatTypedLoginOptions(
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
