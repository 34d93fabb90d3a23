import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, isAbsolute } from 'node:path';
import { sanitizeLine } from '../base/sanitize.ts';
import { isCi } from './ci.ts';
import { findProgram, startChild, withChildEnvironment } from './external-program.ts';
import { fileErrorCode } from './files.ts';
import type { BrowserLauncher, ProcessEnvironment } from './host.ts';

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

export interface FileReaders {
  readonly exists: (path: string) => boolean;
  /** The text of the file; empty when the file is missing. */
  readonly text: (path: string) => string;
}

export function detectBrowser(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  readers: FileReaders = systemReaders,
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

const systemReaders: FileReaders = {
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

/** How long a program may run until it counts as a browser in the foreground that has opened the URL, in milliseconds. */
const startMs = 1000;

interface SystemBrowserOptions {
  readonly waitMs: number;
  readonly runtime: Pick<BrowserEnvironment, 'display' | 'wsl'>;
}

/** Opens a URL in the browser of the user: with the command in $BROWSER, else with the command of the system. */
export function systemBrowser(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  { waitMs = startMs, runtime = detectBrowser(env, platform) }: Partial<SystemBrowserOptions> = {},
): BrowserLauncher {
  return {
    async open(url, onFailure = () => {}) {
      const address = new URL(url);
      if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new TypeError('not an http URL');
      const report = (tried: readonly string[]): void => {
        if (tried.length > 0) onFailure(`could not open a browser: ${sanitizeLine(tried.join('; '))}`);
      };
      const tried: string[] = [];
      for (const opener of chooseOpeners(env, platform, runtime)) {
        const failure = await tryOpener(opener, address.href, env, waitMs, (late) => report([late]));
        if (failure === undefined) return true;
        tried.push(failure);
      }
      report(tried);
      return false;
    },
  };
}

/** The program that would open a URL, as `cloudctl doctor` shows it; undefined if there is none. */
export function findOpener(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  runtime: SystemBrowserOptions['runtime'] = detectBrowser(env, platform),
): string | undefined {
  const installed = chooseOpeners(env, platform, runtime).find(
    ({ path }) => path !== undefined && (!isAbsolute(path) || existsSync(path)),
  );
  if (installed !== undefined || isBrowserNamed(env)) return installed?.path;
  if (platform === 'darwin' || platform === 'win32' || runtime.wsl) return 'the system';
  return startedByXdgOpen.map((program) => findProgram(program, env)).find((path) => path !== undefined);
}

/** The programs that the bundled script xdg-open can start to open a URL. */
const startedByXdgOpen: readonly string[] = [
  'gio',
  'kde-open',
  'kde-open5',
  'exo-open',
  'x-www-browser',
  'sensible-browser',
  'firefox',
  'google-chrome',
  'chromium',
  'chromium-browser',
];

interface Opener {
  /** The name in messages. */
  readonly name: string;
  /** The path or name of the program; undefined if there is no such program, or if it is started by the package `open`. */
  readonly path: string | undefined;
  readonly start: ((url: string) => ChildProcess | Promise<ChildProcess>) | undefined;
}

/**
 * The programs that can open a URL, the preferred one first. What the system has comes before the copy of xdg-open in the package
 * `open`: in a container of toolbox or distrobox, in a Flatpak and under WSL, the program `xdg-open` passes the URL on to the
 * desktop outside, which no copy can do.
 */
function chooseOpeners(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  { display, wsl }: SystemBrowserOptions['runtime'],
): readonly Opener[] {
  if (env.BROWSER?.trim() === 'none') return [];
  if (isBrowserNamed(env)) return splitCommands(env.BROWSER ?? '').map((words) => namedOpener(words, env));
  // Without a graphical display, xdg-open would start a text browser in the terminal.
  if (!display && !wsl) return [];
  const bundled: Opener = {
    name: platform === 'darwin' ? 'open' : platform === 'win32' || wsl ? 'PowerShell' : 'the bundled xdg-open',
    path: undefined,
    start: async (url) => {
      const { default: open } = await import('open');
      return withChildEnvironment(env, () => open(url));
    },
  };
  if (platform === 'darwin' || platform === 'win32') return [bundled];
  const installed = (wsl ? ['wslview', 'xdg-open'] : ['xdg-open']).flatMap((name): readonly Opener[] => {
    const path = findProgram(name, env);
    return path === undefined ? [] : [{ name, path, start: (url) => startOpener(path, [url], env) }];
  });
  return wsl || installed.length === 0 ? [...installed, bundled] : installed;
}

function isBrowserNamed({ BROWSER = '' }: ProcessEnvironment): boolean {
  return splitCommands(BROWSER).length > 0;
}

/**
 * The variable $BROWSER is a list of commands, separated like the folders in PATH. `%s` in a command of $BROWSER stands for the
 * URL; without `%s` the URL is appended as the last argument.
 */
function namedOpener([program = '', ...words]: readonly string[], env: ProcessEnvironment): Opener {
  const path = findProgram(program, env);
  const place = (url: string): readonly string[] =>
    words.some((word) => word.includes('%s')) ? words.map((word) => word.replaceAll('%s', () => url)) : [...words, url];
  return {
    name: program,
    path,
    start: path === undefined ? undefined : (url) => startOpener(path, place(url), env),
  };
}

/**
 * Splits the list into commands and each command into its program and arguments. Quotes keep spaces and separators, as in
 * `"C:\Program Files\Browser\browser.exe" --new-window`.
 */
function splitCommands(list: string): readonly (readonly string[])[] {
  const commands = list.match(delimiter === ';' ? /(?:"[^"]*"|'[^']*'|[^;])+/g : /(?:"[^"]*"|'[^']*'|[^:])+/g) ?? [];
  return commands
    .map((command) =>
      [...command.matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g)].map(([word]) =>
        word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
      ),
    )
    .filter((words) => words.length > 0);
}

/** The program runs without a shell, so the URL is always one argument, whatever characters it contains. */
function startOpener(path: string, args: readonly string[], env: ProcessEnvironment): ChildProcess {
  return startChild(path, args, { env, detached: true, stdio: 'ignore' });
}

/**
 * Starts the program. The result is why it failed, or undefined if it has ended with success or still runs after `waitMs`; a
 * failure after that is passed to `onLateFailure`.
 */
async function tryOpener(
  { name, path, start }: Opener,
  url: string,
  env: ProcessEnvironment,
  waitMs: number,
  onLateFailure: (failure: string) => void,
): Promise<string | undefined> {
  const shown = isBrowserNamed(env) ? `${name} (BROWSER)` : name;
  if (start === undefined) return `${shown} was not found`;
  const startFailure = (error: unknown): string => {
    const code = fileErrorCode(error);
    // The interpreter of a script can be missing too.
    return code === 'ENOENT' && !existsSync(path ?? '') ? `${shown} was not found` : `${shown} did not start (${code})`;
  };
  try {
    const child = await start(url);
    return await new Promise((resolve) => {
      let isStarted = false;
      const settle = (failure: string | undefined): void => {
        clearTimeout(timer);
        if (isStarted && failure !== undefined) onLateFailure(failure);
        isStarted = true;
        resolve(failure);
      };
      const timer = setTimeout(() => settle(undefined), waitMs);
      const end = (status: number | null, signal: NodeJS.Signals | null): void =>
        settle(endFailure(shown, basename(path ?? ''), status, signal));
      child.once('error', (error) => settle(startFailure(error)));
      child.once('exit', end);
      child.unref();
      // The package waits for the end of PowerShell.
      if (child.exitCode !== null || child.signalCode !== null) end(child.exitCode, child.signalCode);
    });
  } catch (error) {
    // Some errors are thrown: a batch file on Windows (EINVAL), a folder of the path that is a file (ENOTDIR).
    return startFailure(error);
  }
}

function endFailure(
  shown: string,
  program: string,
  status: number | null,
  signal: NodeJS.Signals | null,
): string | undefined {
  if (status === null) return `${shown} was ended by ${signal}`;
  // The Explorer of Windows ends with status 1 although it has opened the URL.
  if (status === 0 || (status === 1 && program.toLowerCase() === 'explorer.exe')) return undefined;
  return `${shown} ended with exit status ${status}`;
}
