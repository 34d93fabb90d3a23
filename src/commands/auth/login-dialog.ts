import type { ParsedArgs } from '../../cli/command.ts';
import { readTerminalLines } from '../../cli/read-terminal-lines.ts';
import type { ProfileReference } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { detectRuntimeEnvironment } from '../../platform/runtime-environment.ts';
import { sanitizeLine } from '../../sanitize/terminal-text.ts';
import type { LoginDeps } from '../../session/login.ts';
import { canOpenBrowser, showLoginInstructions } from '../../session/login-instructions.ts';

/** Messages and prompts of a login in the terminal. */
export type LoginDialog = Pick<
  LoginDeps,
  'canContinue' | 'onOtherScope' | 'showInstructions' | 'pastedLines' | 'reportRejectedPaste'
>;

export interface LoginDialogOptions {
  readonly profile: ProfileReference;
  readonly listen: boolean;
  /** The time limit as the user typed it, such as `5m`. */
  readonly limit: string;
}

export function createLoginDialog(
  { host, output, prompts }: CommandContext,
  args: ParsedArgs,
  { profile, listen, limit }: LoginDialogOptions,
): LoginDialog {
  const isTerminal = host.stdin.isTTY === true && host.stderr.isTTY;
  const pasting = isTerminal || args.has('paste');
  const runtimeEnvironment = detectRuntimeEnvironment(host.env, host.platform);
  const canOpen = !args.has('no-browser') && listen && canOpenBrowser(runtimeEnvironment, isTerminal, host.env.BROWSER);
  const confirmScope = (requested: string, granted: string, signal: AbortSignal): Promise<boolean> =>
    prompts.confirm({
      message: `The granted scope is "${sanitizeLine(granted)}", the requested scope is "${requested}". Keep this session?`,
      option: '--accept-scope',
      signal,
    });
  return {
    canContinue: prompts.interactive,
    onOtherScope: args.has('accept-scope') ? 'accept' : prompts.interactive ? confirmScope : 'refuse',
    showInstructions: (addresses, { isContinued }) =>
      showLoginInstructions(host, addresses, {
        profile,
        runtimeEnvironment,
        canOpen,
        isContinued,
        listening: listen,
        pasting,
        limit,
      }),
    pastedLines: (signal) => {
      if (!pasting) return noPastedLines();
      const onInterrupt = (): void => void process.kill(process.pid, 'SIGINT');
      return readTerminalLines({ input: host.stdin, output: host.screen, onInterrupt }, signal);
    },
    reportRejectedPaste: (kind) => output.warn(rejectedPasteTexts[kind]),
  };
}

const rejectedPasteTexts = {
  incomplete: 'the code was pasted without its state: paste the complete URL, which contains both',
  unreadable: 'the pasted text is not a redirect URL: paste the complete URL, including the part after "?" or "#"',
} as const;

async function* noPastedLines(): AsyncGenerator<string> {}
