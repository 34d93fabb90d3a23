import { existsSync, readFileSync } from 'node:fs';
import type { ProcessEnvironment } from './host.ts';

/** The properties of the environment that determine how a browser can be reached. */
export interface BrowserEnvironment {
  readonly wsl: boolean;
  /** Address and port of the SSH server of this session; the address is undefined if it is not known. */
  readonly ssh: { readonly server: string | undefined; readonly port: number } | undefined;
  readonly container: boolean;
  readonly codespaces: boolean;
  readonly ci: boolean;
  /** Whether this process can use a graphical display. */
  readonly display: boolean;
}

export interface BrowserEnvironmentFileReaders {
  readonly exists: (path: string) => boolean;
  /** The text of the file; empty when the file is missing. */
  readonly text: (path: string) => string;
}

export function detectBrowserEnvironment(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  readers: BrowserEnvironmentFileReaders = systemReaders,
): BrowserEnvironment {
  const container =
    platform === 'linux' &&
    (isSet(env.container) ||
      isSet(env.KUBERNETES_SERVICE_HOST) ||
      readers.exists('/.dockerenv') ||
      readers.exists('/run/.containerenv'));
  return {
    // A container on WSL has the kernel of WSL, but not its browser and loopback interface.
    wsl:
      platform === 'linux' &&
      !container &&
      (isSet(env.WSL_DISTRO_NAME) || /microsoft/i.test(readers.text('/proc/version'))),
    ssh: sshServer(env),
    container,
    codespaces: env.CODESPACES === 'true',
    ci: isCi(env),
    display:
      platform === 'darwin' || platform === 'win32'
        ? sshServer(env) === undefined
        : isSet(env.DISPLAY) || isSet(env.WAYLAND_DISPLAY),
  };
}

/**
 * Why the program opens no browser; undefined if it may: only for a user at a terminal, never in CI or where a text browser would
 * use the terminal.
 */
export function browserObstacle(
  { ci, display, wsl, ssh }: BrowserEnvironment,
  terminal: boolean,
  browserVariable = '',
): string | undefined {
  if (!terminal) return 'standard input or standard error is not a terminal';
  if (ci) return 'the variable CI is set';
  if (browserVariable.trim() === 'none') return 'the variable BROWSER is "none"';
  if (display || wsl || browserVariable !== '') return undefined;
  return ssh === undefined ? 'this session has no graphical display' : 'this is an SSH session without a display';
}

/** `CI=false`, `CI=0` and an empty `CI` have the same effect as an absent `CI`. */
export function isCi(env: ProcessEnvironment): boolean {
  return isSet(env.CI) && env.CI !== 'false' && env.CI !== '0';
}

const systemReaders: BrowserEnvironmentFileReaders = {
  exists: existsSync,
  text: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : ''),
};

/**
 * The variable SSH_CONNECTION has the form "client-address client-port server-address server-port". The variable SSH_CONNECTION
 * can be missing (sudo, tmux); the address is then not known.
 */
function sshServer(env: ProcessEnvironment): BrowserEnvironment['ssh'] {
  const [, , server, port] = (env.SSH_CONNECTION ?? '').split(' ');
  if (server && port) return { server, port: Number(port) };
  return isSet(env.SSH_TTY) || isSet(env.SSH_CLIENT) ? { server: undefined, port: 22 } : undefined;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
