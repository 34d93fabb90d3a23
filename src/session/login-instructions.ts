import { isLoopbackHost } from '../platform/loopback-host.ts';
import type { RuntimeEnvironment } from '../platform/runtime-environment.ts';

export interface LoginInstructionsOptions {
  readonly profile: string;
  readonly authorizationUrl: string;
  readonly callbackUrl: string;
  readonly runtimeEnvironment: RuntimeEnvironment;
  /** The browser was started for the person. */
  readonly opened: boolean;
  /** A listener waits for the redirect; false with `--paste`. */
  readonly listening: boolean;
  /** Pasted lines are read. */
  readonly pasting: boolean;
  /** As typed: `5m`. */
  readonly limit: string;
}

/** What is said before the wait: the authorization URL whole and alone on its line, then how to go on from where the person sits. */
export function loginInstructions(words: LoginInstructionsOptions): string {
  const { authorizationUrl, opened, pasting, listening, limit, profile } = words;
  const lead = opened
    ? 'Your browser was asked to open the sign-in page. If it did not, open:'
    : 'Open this address in a browser to sign in:';
  const paste = pasting ? 'paste the whole address of the page you end on here and press Enter' : undefined;
  const waiting = listening
    ? `Waiting for the browser, ${limit} at most${paste === undefined ? '.' : `. Or\n${paste}.`}`
    : `Then ${paste}.\nWaiting ${limit} at most.`;
  return [
    lead,
    '',
    authorizationUrl,
    '',
    waiting,
    ...remoteBrowserHint(words),
    'If the page complains of the redirect uri or the scope, it will not come back:',
    'compare client_id, callback_urls and scope with the registered application:',
    `\`cloudctl config list --profile ${profile}\``,
  ].join('\n');
}

/** The way back to this machine, where the browser is likely to sit on another. */
function remoteBrowserHint({
  runtimeEnvironment: surroundings,
  authorizationUrl,
  callbackUrl,
  listening,
  profile,
}: LoginInstructionsOptions): readonly string[] {
  // A browser that reaches an authorization server on this machine's loopback interface reaches the helper as well.
  if (!listening || isLoopbackHost(new URL(authorizationUrl).hostname)) return [];
  const url = new URL(callbackUrl);
  const port = url.port === '' ? '80' : url.port;
  const { ssh } = surroundings;
  const paste = `\`cloudctl auth login --paste${profile === 'default' ? '' : ` --profile ${profile}`}\``;
  if (surroundings.codespaces) {
    return [`This is a codespace: its ports are not those of your machine. Use ${paste}.`];
  }
  if (ssh !== undefined) {
    const server = ssh.server === '' ? 'THIS-SERVER' : ssh.server;
    const via = ssh.port === 22 ? '' : ` -p ${ssh.port}`;
    const address = url.hostname === '[::1]' ? '[::1]' : '127.0.0.1';
    return [
      `This is an SSH session: for a browser on your own machine run \`ssh${via} -L ${port}:${address}:${port} ${server}\` there first, or use ${paste}.`,
    ];
  }
  if (surroundings.container) {
    return [`This is a container: a browser outside cannot reach its loopback interface. Use ${paste}.`];
  }
  if (surroundings.wsl) {
    return [`This is WSL: if the browser of Windows cannot reach the last page, use ${paste}.`];
  }
  return [];
}

/** Whether a browser may be opened from here: only for a person at a terminal, never under CI or where it would take the terminal over. */
export function canOpenBrowser(
  surroundings: RuntimeEnvironment,
  terminal: boolean,
  browserVariable: string | undefined,
): boolean {
  if (!terminal || surroundings.ci) return false;
  return surroundings.display || surroundings.wsl || (browserVariable !== undefined && browserVariable !== '');
}
