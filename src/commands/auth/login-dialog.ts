import type { ListenAddress, OnRefusedPeer } from '../../auth/loopback/index.ts';
import { type LoginDialog, showInstructions } from '../../auth/session/index.ts';
import { usageError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { readTerminalLines } from '../../cli/prompts.ts';
import type { ProfileReference } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { browserObstacle, detectBrowserEnvironment } from '../../platform/browser.ts';
import type { OutputSink } from '../../platform/host.ts';
import { interruptOwnProcess } from '../../platform/signals.ts';

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
