import { type ExitCode, usageError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { OptionSpec, ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { readLines } from '../../cli/prompts.ts';
import { requireDuration } from '../../cli/values.ts';
import { commandFor, type ProfileReference, type ProfileSettings, type TypedSettings } from '../../config/settings.ts';
import { browserObstacle, detectBrowser } from '../../platform/browser.ts';
import type { OutputSink } from '../../platform/host.ts';
import { interruptSelf } from '../../platform/signals.ts';
import type { ListenAddress, OnRefusedPeer } from '../loopback/index.ts';
import { isSameScope } from '../oauth/index.ts';
import type { LoginDialog, LoginRequest } from './authorize.ts';
import { showInstructions } from './instructions.ts';
import { logIn } from './login.ts';
import { exposureWarning, readListenAddress, requirePerson, typedOptions } from './options.ts';
import { readStatus, reportLogin, type SessionStatus, saveOptions } from './report.ts';
import type { ProfileCommand } from './sessions.ts';
import { completeSettings } from './setup.ts';

/**
 * Implements `auth login` in the browser. In a terminal it asks for what the profile lacks.
 * @param declared the options of `auth login`
 */
export async function loginInBrowser(
  command: ProfileCommand,
  args: ParsedArgs,
  typed: TypedSettings,
  declared: readonly OptionSpec[],
): Promise<ExitCode> {
  const { output } = command;
  const listenAddress = readListenAddress(args);
  const isUnattended = requirePerson(command, args);
  const limitText = args.value('login-timeout') ?? '5m';
  const limit = requireDuration(limitText, '--login-timeout', 1000);
  const { settings, binding } = await completeSettings(command, typed);
  const status = await readStatus(command, settings);
  const request: LoginRequest = {
    flow: settings.values.flow ?? 'code',
    scope: await chooseScope(command, args, settings, status),
    prompt: args.value('prompt'),
    accountHint: args.value('account-hint'),
    team: args.value('team'),
    pkce: !args.has('no-pkce') && settings.values.pkce !== false,
    listen: !args.has('paste'),
    listenAddress,
    limit,
    profileFlow: command.sessionSettings().values.flow,
    typed: typedOptions(args, command.globals, declared),
  };
  if (!(await confirmReplacement(command, settings, status, args))) return 0;
  const warning = listenAddress === undefined ? undefined : exposureWarning(listenAddress);
  if (warning !== undefined) await output.warn(warning);
  if (request.flow === 'implicit') await output.warn(implicitFlowWarning);
  const run = await command.sessionRun(settings, binding);
  const { profile } = settings;
  const dialog = { profile, listen: request.listen, listenAddress, limit: limitText, isUnattended };
  await logIn(run, request, {
    ...createDialog(command, args, dialog),
    report: async (result) => {
      await saveOptions(command, settings, typed);
      await reportLogin(command, settings, result, request.prompt);
    },
  });
  return 0;
}

const implicitFlowWarning =
  'the implicit flow issues no refresh token, and its access token is part of a browser URL; the code flow is safer';

/** Without `--scope` a new login requests the scope of the existing session, so that it neither removes permissions nor adds any. */
async function chooseScope(
  { prompts }: Pick<CommandIo, 'prompts'>,
  args: ParsedArgs,
  { values }: ProfileSettings,
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

/**
 * In a terminal a valid session is replaced only after confirmation; a script replaces it without confirmation. A session that
 * this login cannot revoke, because it is of other servers or cannot be read, is named in any case.
 */
export async function confirmReplacement(
  command: CommandIo,
  settings: ProfileSettings,
  status: SessionStatus | undefined,
  args: ParsedArgs,
): Promise<boolean> {
  const found = describeReplacedSession(settings, status);
  if (found === undefined) return true;
  if (!args.has('force') && command.prompts.interactive) {
    const message = `${found.text} Log in again?`;
    const isConfirmed = await command.prompts.confirm({ message, default: true, option: '--force' });
    if (!isConfirmed) await command.output.note(`The session of profile ${settings.profileName} was not changed.`);
    return isConfirmed;
  }
  if (found.hint !== undefined) await command.output.warn(`${found.text} ${found.hint}`);
  else if (!args.has('force') && !args.has('with-token'))
    await command.output.note(`${found.text} Its session stays until this login is complete.`);
  return true;
}

function describeReplacedSession(
  { profile, profileName }: ProfileSettings,
  status: SessionStatus | undefined,
): { readonly text: string; readonly hint?: string } | undefined {
  if (status === undefined || status.isEnded) return undefined;
  const { stored } = status;
  if (stored.kind === 'damaged')
    return {
      text: `The stored session of profile ${profileName} cannot be read, so this login cannot revoke its tokens.`,
      hint: 'They stay valid until they expire.',
    };
  if (stored.kind !== 'found' && stored.kind !== 'elsewhere') return undefined;
  if (stored.kind === 'found') return { text: `Profile ${profileName} is already logged in.` };
  const { record } = stored;
  const application = record.clientId === '' ? 'no client ID' : `client ID ${sanitizeLine(record.clientId)}`;
  return {
    text: `Profile ${profileName} is logged in at ${record.authOrigin} (API ${record.baseOrigin}) with ${application}. This login replaces that session without revoking its tokens.`,
    hint: `To revoke them, run ${commandFor(profile, 'auth logout')} before the login.`,
  };
}

interface DialogOptions {
  readonly profile: ProfileReference;
  readonly listen: boolean;
  /** The address on which the login waits for the redirect, if it differs from the address of the callback URL. */
  readonly listenAddress?: ListenAddress | undefined;
  /** The time limit as the user typed it, such as `5m`. */
  readonly limit: string;
  /** Whether the login ends if the program in BROWSER cannot be started, because no user sees the URL. */
  readonly isUnattended?: boolean;
}

export function createDialog(
  { host, output, prompts, globals }: CommandIo,
  args: ParsedArgs,
  { profile, listen, listenAddress, limit, isUnattended = false }: DialogOptions,
): Omit<LoginDialog, 'report'> {
  const isTerminal = host.stdin.isTTY === true && host.stderr.isTTY;
  const pasting = isTerminal || args.has('paste');
  const runtimeEnvironment = detectBrowser(host.env, host.platform);
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
      return readLines({ input: host.stdin, output: host.screen, onInterrupt: () => interruptSelf() }, signal);
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
  other_login:
    'the pasted address is of another login, because its state differs: paste the last address of this login',
  unreadable: 'the pasted text is not a redirect URL: paste the complete URL, including the part after "?" or "#"',
} as const;

async function* noPastedLines(): AsyncGenerator<string> {}
