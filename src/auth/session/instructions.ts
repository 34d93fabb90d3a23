import { hyperlink, showsHyperlinks } from '../../cli/text.ts';
import { commandFor, type ProfileReference } from '../../config/settings.ts';
import type { BrowserEnvironment } from '../../platform/browser.ts';
import type { HostSystem } from '../../platform/host.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import type { LoginUrls } from './authorize.ts';

interface InstructionsOptions {
  readonly profile: ProfileReference;
  readonly runtimeEnvironment: BrowserEnvironment;
  /** Why no browser is opened; completes the sentence "No browser is opened: …". Absent if the user asked for none. */
  readonly obstacle?: string | undefined;
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

/** Opens the browser if `canOpen`, then prints the instructions on standard error. Resolves with whether the browser was started. */
export async function showInstructions(
  host: Pick<HostSystem, 'browser' | 'stderr' | 'env'>,
  addresses: LoginUrls,
  options: InstructionsOptions & { readonly canOpen: boolean },
): Promise<boolean> {
  const { startUrl } = addresses;
  const warn = (failure: string): void => void host.stderr.write(`warning: ${failure}\n`);
  const opened =
    options.canOpen && !options.isContinued && startUrl !== undefined && (await host.browser.open(startUrl, warn));
  const isLinked = showsHyperlinks(host.stderr, host.env);
  await host.stderr.write(`${loginInstructions({ ...options, ...addresses, opened, isLinked })}\n`);
  return opened;
}

/** The instructions before the wait: the complete authorization URL on a separate line, then how to continue from this machine. */
export function loginInstructions(options: ShownInstructions): string {
  const { authorizationUrl, opened, obstacle, isLinked = false, isContinued, pasting, listening, limit } = options;
  const { host } = new URL(authorizationUrl);
  const why = opened || isContinued || obstacle === undefined ? [] : [`No browser is opened: ${obstacle}.`];
  const lead = isContinued
    ? `The browser shows the sign-in page of ${host}. Its URL is:`
    : opened
      ? `Opening ${host} in the browser. If nothing opens, use this URL:`
      : `To sign in at ${host}, open this URL in a browser:`;
  const waiting = listening
    ? `Waiting at most ${limit}.${pasting ? ' You can also paste the URL of the last page here.' : ''}`
    : `After the login the browser shows an error, such as "cannot connect".\nPaste the complete URL of that page here and press Enter (${limit}).`;
  // A terminal breaks a long URL into lines, and then opens only the first of them, unless it knows the URL as a link.
  const url = isLinked ? hyperlink(authorizationUrl, authorizationUrl) : authorizationUrl;
  return [...why, lead, url, waiting, ...remoteBrowserHint(options), ...shortUrlHint(options)].join('\n');
}

interface ShownInstructions extends InstructionsOptions, Omit<LoginUrls, 'startUrl'> {
  readonly opened: boolean;
  /** Whether the terminal shows hyperlinks. */
  readonly isLinked?: boolean;
}

/** Where the port may be forwarded to the machine of the browser, a URL that can be typed there. */
function shortUrlHint({
  shortUrl,
  callbackUrl,
  opened,
  isContinued,
  isForwarded = false,
  runtimeEnvironment: { ssh },
}: ShownInstructions): readonly string[] {
  if (shortUrl === undefined || opened || isContinued || (ssh === undefined && !isForwarded)) return [];
  return [`Where port ${portOf(callbackUrl)} is forwarded, this short URL is enough: ${shortUrl}`];
}

/** Explains how the redirect reaches this machine when the browser probably runs on another machine. */
function remoteBrowserHint({
  runtimeEnvironment,
  authorizationUrl,
  callbackUrl,
  listening,
  isForwarded = false,
  profile,
}: ShownInstructions): readonly string[] {
  // If the authorization server is on the loopback interface of this machine, a browser that reaches it also reaches the
  // loopback listener; over SSH it reaches neither.
  const server = new URL(authorizationUrl);
  const { ssh } = runtimeEnvironment;
  const isLocal = isLoopbackHost(server.hostname);
  if (!listening || isForwarded || (isLocal && ssh === undefined)) return [];
  const port = portOf(callbackUrl);
  const paste = commandFor(profile, 'auth login --paste');
  if (runtimeEnvironment.codespaces) {
    return [`This is a codespace: its ports are not those of your machine. Use ${paste}.`];
  }
  if (ssh !== undefined) {
    const machine = ssh.server || 'THIS-SERVER';
    const via = ssh.port === 22 ? '' : ` -p ${ssh.port}`;
    // The sign-in page of a sandbox on this machine is as far from the browser as the callback.
    const forwards = [...(isLocal ? [server.href] : []), callbackUrl].map(forwardOf).join('');
    // Pasting needs the sign-in page, too, so it does not replace the tunnel to it.
    const instead = isLocal ? '' : `, or use ${paste}`;
    return [
      `This is an SSH session: for a browser on your own machine run \`ssh${via}${forwards} ${machine}\` there first${instead}.`,
    ];
  }
  if (runtimeEnvironment.container) {
    const forwarded = commandFor(profile, `auth login --callback-listen 0.0.0.0 --allow-peer GATEWAY`);
    return [
      `This is a container: a browser outside cannot reach its loopback interface. Use ${paste}, or publish port ${port} and use ${forwarded}.`,
    ];
  }
  if (runtimeEnvironment.wsl) {
    return [`This is WSL: if the browser of Windows cannot reach the last page, use ${paste}.`];
  }
  return [];
}

/** The option that forwards the port of a URL with a loopback host to this machine. */
function forwardOf(url: string): string {
  const address = new URL(url).hostname === '[::1]' ? '[::1]' : '127.0.0.1';
  return ` -L ${portOf(url)}:${address}:${portOf(url)}`;
}

function portOf(url: string): string {
  return new URL(url).port || '80';
}
