import type { ProfileReference } from '../../config/settings.ts';
import type { BrowserEnvironment } from '../../platform/browser-environment.ts';
import type { HostSystem } from '../../platform/host.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import type { LoginUrls } from './authorization-receiver.ts';
import { formatCommandForProfile } from './suggested-commands.ts';

export interface LoginInstructionsOptions {
  readonly profile: ProfileReference;
  readonly runtimeEnvironment: BrowserEnvironment;
  /** Whether the loopback listener waits for the redirect; false with `--paste`. */
  readonly listening: boolean;
  /** Whether the redirect arrives at another address than that of the callback URL, through a published port. */
  readonly isForwarded?: boolean;
  /** Whether the login reads pasted lines. */
  readonly pasting: boolean;
  /** Whether a browser tab was already redirected to the authorization URL. */
  readonly isContinued: boolean;
  /** The time limit as the user typed it, such as `5m`. */
  readonly limit: string;
}

/** Opens the browser if `canOpen`, then prints the instructions on standard error. */
export async function openBrowserAndPrintLoginInstructions(
  host: Pick<HostSystem, 'browser' | 'stderr'>,
  addresses: LoginUrls,
  options: LoginInstructionsOptions & { readonly canOpen: boolean },
): Promise<void> {
  const { startUrl } = addresses;
  const warn = (failure: string): void => void host.stderr.write(`warning: ${failure}\n`);
  const opened =
    options.canOpen && !options.isContinued && startUrl !== undefined && (await host.browser.open(startUrl, warn));
  await host.stderr.write(`${loginInstructions({ ...options, ...addresses, opened })}\n`);
}

/** The instructions before the wait: the complete authorization URL on a separate line, then how to continue from this machine. */
export function loginInstructions(
  options: LoginInstructionsOptions & Omit<LoginUrls, 'startUrl'> & { readonly opened: boolean },
): string {
  const { authorizationUrl, opened, isContinued, pasting, listening, limit } = options;
  const { host } = new URL(authorizationUrl);
  const lead = isContinued
    ? `The browser shows the sign-in page of ${host}. Its URL is:`
    : opened
      ? `Opening ${host} in the browser. If nothing opens, use this URL:`
      : `To sign in at ${host}, open this URL in a browser:`;
  const waiting = listening
    ? `Waiting at most ${limit}.${pasting ? ' You can also paste the URL of the last page here.' : ''}`
    : `After login, paste the complete URL of the last page here and press Enter (${limit}).`;
  return [lead, authorizationUrl, waiting, ...remoteBrowserHint(options)].join('\n');
}

/** Explains how the redirect reaches this machine when the browser probably runs on another machine. */
function remoteBrowserHint({
  runtimeEnvironment,
  authorizationUrl,
  callbackUrl,
  listening,
  isForwarded = false,
  profile,
}: LoginInstructionsOptions & Omit<LoginUrls, 'startUrl'>): readonly string[] {
  // If the authorization server is on the loopback interface of this machine, a browser that reaches it also reaches the
  // loopback listener.
  if (!listening || isForwarded || isLoopbackHost(new URL(authorizationUrl).hostname)) return [];
  const url = new URL(callbackUrl);
  const port = url.port === '' ? '80' : url.port;
  const { ssh } = runtimeEnvironment;
  const paste = formatCommandForProfile(profile, 'auth login --paste');
  if (runtimeEnvironment.codespaces) {
    return [`This is a codespace: its ports are not those of your machine. Use ${paste}.`];
  }
  if (ssh !== undefined) {
    const server = ssh.server || 'THIS-SERVER';
    const via = ssh.port === 22 ? '' : ` -p ${ssh.port}`;
    const address = url.hostname === '[::1]' ? '[::1]' : '127.0.0.1';
    return [
      `This is an SSH session: for a browser on your own machine run \`ssh${via} -L ${port}:${address}:${port} ${server}\` there first, or use ${paste}.`,
    ];
  }
  if (runtimeEnvironment.container) {
    const forwarded = formatCommandForProfile(profile, `auth login --callback-listen 0.0.0.0 --allow-peer GATEWAY`);
    return [
      `This is a container: a browser outside cannot reach its loopback interface. Use ${paste}, or publish port ${port} and use ${forwarded}.`,
    ];
  }
  if (runtimeEnvironment.wsl) {
    return [`This is WSL: if the browser of Windows cannot reach the last page, use ${paste}.`];
  }
  return [];
}

/**
 * Whether the program may open a browser: only for a user at a terminal, never in CI or where a text browser would use the
 * terminal.
 */
export function canOpenBrowser(
  runtimeEnvironment: BrowserEnvironment,
  terminal: boolean,
  browserVariable: string | undefined,
): boolean {
  if (!terminal || runtimeEnvironment.ci) return false;
  return (
    runtimeEnvironment.display || runtimeEnvironment.wsl || (browserVariable !== undefined && browserVariable !== '')
  );
}
