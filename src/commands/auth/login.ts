import { isIPv4, isIPv6 } from 'node:net';
import { type ListenAddress, type OnRefusedPeer, type PeerNetwork, parseNetwork } from '../../auth/loopback/index.ts';
import { isKnownScope, isSameScope } from '../../auth/oauth/index.ts';
import {
  type LoginDialog,
  type LoginRequest,
  logIn,
  readStatus,
  requireOwnSession,
  type SessionStatus,
  showInstructions,
} from '../../auth/session/index.ts';
import { usageError } from '../../base/errors.ts';
import { isTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { CommandSpec, OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { readTerminalLines } from '../../cli/prompts.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { parseDurationToMillisecondsOrThrow, shortenInputForError } from '../../cli/values.ts';
import type { ProfileReference, ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { browserObstacle, detectBrowserEnvironment, isCi } from '../../platform/browser.ts';
import type { OutputSink } from '../../platform/host.ts';
import { isLoopbackPeer } from '../../platform/loopback-host.ts';
import { interruptOwnProcess } from '../../platform/signals.ts';
import { warnOfAccessTokenVariable } from './environment-token.ts';
import {
  confirmSessionReplacement,
  loginSessionFields,
  reportLogin,
  saveLoginOptionsInProfile,
} from './login-report.ts';
import { loginWithToken } from './login-with-token.ts';
import { profileSettingsOptionSpecs, readProfileSettingsFromOptions } from './profile-values.ts';
import { resolveOrPromptForLoginSettings } from './resolve-or-prompt-for-login-settings.ts';

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

interface LoginDialogOptions {
  readonly profile: ProfileReference;
  readonly listen: boolean;
  /** The address on which the login waits for the redirect, if it differs from the address of the callback URL. */
  readonly listenAddress?: ListenAddress | undefined;
  /** The time limit as the user typed it, such as `5m`. */
  readonly limit: string;
  /** Whether the login ends if the program in BROWSER cannot be started, because no user sees the URL. */
  readonly isUnattended?: boolean;
}

export function createLoginDialog(
  { host, output, prompts, globals }: CommandContext,
  args: ParsedArgs,
  { profile, listen, listenAddress, limit, isUnattended = false }: LoginDialogOptions,
): Omit<LoginDialog, 'report'> {
  const isTerminal = host.stdin.isTTY === true && host.stderr.isTTY;
  const pasting = isTerminal || args.has('paste');
  const runtimeEnvironment = detectBrowserEnvironment(host.env, host.platform);
  // A browser is opened only if the login listens at the callback URL of this machine, so that the redirect can arrive.
  const isLocal = listen && listenAddress === undefined;
  const isWanted = isLocal && !args.has('no-browser');
  const obstacle =
    isWanted && !isUnattended ? browserObstacle(runtimeEnvironment, isTerminal, host.env.BROWSER) : undefined;
  const confirmScope = (requested: string, granted: string, signal: AbortSignal): Promise<boolean> =>
    prompts.confirm({
      message: `The granted scope is "${sanitizeLine(granted)}", the requested scope is "${requested}". Keep this session?`,
      option: '--accept-scope',
      signal,
    });
  return {
    canContinue: prompts.interactive,
    onOtherScope: args.has('accept-scope') ? 'accept' : prompts.interactive ? confirmScope : 'refuse',
    showInstructions: async (addresses, { isContinued }) => {
      const opened = await showInstructions(host, addresses, {
        ...{ profile, runtimeEnvironment, obstacle, isContinued, pasting, limit },
        canOpen: isWanted && obstacle === undefined,
        listening: listen,
        isForwarded: listenAddress !== undefined,
      });
      if (isUnattended && !opened && !isContinued)
        throw usageError(
          'cannot log in: the program in BROWSER could not be started, and --no-input was given without a terminal',
          'add `--no-browser`, which prints the URL and waits',
        );
    },
    pastedLines: (signal) => {
      if (!pasting) return noPastedLines();
      return readTerminalLines(
        { input: host.stdin, output: host.screen, onInterrupt: () => interruptOwnProcess() },
        signal,
      );
    },
    onRefusedPeer: createRefusedPeerReport(
      globals.has('trace') ? host.stderr : undefined,
      () => void output.warn(pasting ? otherUserTexts.pasting : otherUserTexts.listening),
    ),
    onOversizedRequest: createOversizedRequestReport((text) => output.warn(text)),
    reportRejectedPaste: (kind) => output.warn(rejectedPasteTexts[kind]),
  };
}

/**
 * Reports each refused address once, and at most 100, because a peer could connect without end. A request of another user is
 * reported once for the whole login, also without --trace, because it may be the browser for which the login waits.
 */
function createRefusedPeerReport(stderr: OutputSink | undefined, warnOfOtherUser: () => void): OnRefusedPeer {
  const reported = new Set<string>();
  let isUserReported = false;
  return (address, reason) => {
    if (reason === 'user') {
      if (!isUserReported) warnOfOtherUser();
      isUserReported = true;
      return;
    }
    if (stderr === undefined || reported.has(address) || reported.size >= 100) return;
    reported.add(address);
    void stderr.write(`refused a connection from ${sanitizeLine(address)}, which --allow-peer does not name\n`);
  };
}

/** Reports each part once, because any program of this machine could send such requests without end. */
function createOversizedRequestReport(warn: (text: string) => Promise<void>): (part: 'headers' | 'body') => void {
  const reported = new Set<string>();
  return (part) => {
    if (reported.has(part)) return;
    reported.add(part);
    void warn(oversizedRequestTexts[part]);
  };
}

const otherUserTexts = {
  pasting:
    'refused a request to the callback URL, because it came from another user of this machine: if it came from your own browser (under another account, in WSL or in a container), paste the URL of its last page here',
  listening:
    'refused a request to the callback URL, because it came from another user of this machine: if it came from your own browser (under another account, in WSL or in a container), press Ctrl-C, and log in with `--paste`',
} as const;

const oversizedRequestTexts = {
  headers:
    'refused a request to the callback URL, because its URL and headers are longer than 64 KiB: delete the cookies of this host in the browser, and log in again',
  body: 'refused a response of the authorization server, because it is longer than 16 KiB: press Ctrl-C, and log in with `--flow code`',
} as const;

const rejectedPasteTexts = {
  incomplete: 'the code was pasted without its state: paste the complete URL, which contains both',
  unreadable: 'the pasted text is not a redirect URL: paste the complete URL, including the part after "?" or "#"',
} as const;

async function* noPastedLines(): AsyncGenerator<string> {}

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
  ...callbackListenOptionSpecs,
  { name: 'login-timeout', valueName: 'DURATION', description: 'time limit of the login in the browser (default: 5m)' },
  { name: 'accept-scope', description: 'keep the session if the granted scope differs from the requested one' },
  { name: 'force', description: 'in a terminal, replace a valid session without confirmation' },
  ...profileSettingsOptionSpecs,
];

export const authLoginCommand: CommandSpec<CommandContext> = {
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
  fields: loginSessionFields,
  run: warnOfAccessTokenVariable(async (context, args) => {
    const typed = readProfileSettingsFromOptions(args, options);
    requireOwnSession(context.sessionSettings(typed));
    checkOptions(context.sessionSettings(typed), args);
    const listenAddress = readCallbackListenOptions(args);
    if (args.has('with-token')) return loginWithToken(context, args, typed);
    const isUnattended = requirePerson(context, args);
    const limitText = args.value('login-timeout') ?? '5m';
    const limit = parseDurationToMillisecondsOrThrow(limitText, '--login-timeout', 1000);
    const login = await resolveOrPromptForLoginSettings(context, typed);
    const { settings } = login;
    const status = await readStatus(context, settings);
    const request: LoginRequest = {
      flow: settings.values.flow ?? 'code',
      scope: await chooseScope(context, args, settings, status),
      prompt: args.value('prompt'),
      accountHint: args.value('account-hint'),
      team: args.value('team'),
      pkce: !args.has('no-pkce') && settings.values.pkce !== false,
      listen: !args.has('paste'),
      listenAddress,
      limit,
      profileFlow: context.sessionSettings().values.flow,
      typed: formatTypedLoginOptions(args, context.globals, options),
    };
    if (!(await confirmSessionReplacement(context, settings, status, args))) {
      await context.output.note(`The session of profile ${settings.profileName} was not changed.`);
      return 0;
    }
    const warning = listenAddress === undefined ? undefined : exposedListenerWarning(listenAddress);
    if (warning !== undefined) await context.output.warn(warning);
    if (request.flow === 'implicit') await context.output.warn(implicitFlowWarning);
    const run = await context.sessionRun(settings, login.binding);
    const dialog = createLoginDialog(context, args, {
      profile: settings.profile,
      listen: request.listen,
      listenAddress,
      limit: limitText,
      isUnattended,
    });
    await logIn(run, request, {
      ...dialog,
      report: async (result) => {
        await saveLoginOptionsInProfile(context, settings, typed);
        await reportLogin(context, settings, result, request.prompt);
      },
    });
    return 0;
  }),
};

const implicitFlowWarning =
  'the implicit flow issues no refresh token, and its access token is part of a browser URL; the code flow is safer';

/**
 * In a CI job, and without a terminal where no input is wanted, no user sees the URL, so the login would wait until its time limit
 * expires. Returns true if the login depends on the program in BROWSER, which is started without a terminal then.
 */
function requirePerson({ host, globals }: CommandContext, args: ParsedArgs): boolean {
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

/** Refuses options that contradict each other before a page is opened. */
function checkOptions(settings: ResolvedProfileSettings, args: ParsedArgs): void {
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
}

/** Without `--scope` a new login requests the scope of the existing session, so that it neither removes permissions nor adds any. */
async function chooseScope(
  { prompts }: CommandContext,
  args: ParsedArgs,
  { values }: ResolvedProfileSettings,
  status: SessionStatus | undefined,
): Promise<string | undefined> {
  const kept = status?.report?.scope ?? undefined;
  if (args.value('scope') !== undefined || kept === undefined || isSameScope(kept, values.scope)) return values.scope;
  if (values.scope !== undefined && prompts.interactive) {
    const message = `The session has the scope "${sanitizeLine(kept)}", the profile has "${sanitizeLine(values.scope)}". Keep the scope of the session?`;
    if (!(await prompts.confirm({ message, default: true, option: '--scope' }))) return values.scope;
  }
  return isSameScope(kept, 'read') ? undefined : kept;
}
