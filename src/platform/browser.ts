import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { detectBrowserEnvironment } from './browser-environment.ts';
import type { BrowserLauncher, ProcessEnvironment } from './host.ts';

/** Opens a URL in the browser of the user: with the command in $BROWSER, else with the command of the platform. */
export function createSystemBrowser(env: ProcessEnvironment, platform: NodeJS.Platform): BrowserLauncher {
  return {
    async open(url) {
      const address = new URL(url);
      if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new TypeError('not an http URL');
      const command = env.BROWSER?.trim();
      if (command === 'none') return false;
      if (command) return openWith(command.split(delimiter), address.href, env);
      const environment = detectBrowserEnvironment(env, platform);
      // Without a graphical display, xdg-open would start a text browser in the terminal.
      if (!environment.display && !environment.wsl) return false;
      return openDefault(address.href);
    },
  };
}

/** Whether the platform has a command that opens URLs; it can be missing only on Linux. */
export function canOpenUrl(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  exists: (path: string) => boolean = existsSync,
): boolean {
  if (platform !== 'linux' || detectBrowserEnvironment(env, platform).wsl) return true;
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => openers.some((program) => exists(join(folder, program))));
}

/** The programs that the bundled script xdg-open can start to open a URL. */
const openers: readonly string[] = [
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

/**
 * The variable $BROWSER is a list of commands, separated like the folders in PATH. `%s` in a command of $BROWSER stands for the
 * URL; without `%s` the URL is appended as the last argument.
 */
async function openWith(commands: readonly string[], url: string, env: ProcessEnvironment): Promise<boolean> {
  for (const command of commands) {
    const [program, ...words] = splitWords(command);
    if (program === undefined) continue;
    const placed = words.map((word) => word.replaceAll('%s', url));
    const args = words.some((word) => word.includes('%s')) ? placed : [...words, url];
    if (await tryStart(program, args, env)) return true;
  }
  return false;
}

function tryStart(program: string, args: readonly string[], env: ProcessEnvironment): Promise<boolean> {
  return new Promise((resolve) => {
    // The command runs without a shell, so the URL is always one argument, whatever characters it contains.
    try {
      const child = spawn(program, args, { env, detached: true, stdio: 'ignore', windowsHide: true });
      child.once('error', () => resolve(false));
      child.once('spawn', () => {
        child.unref();
        resolve(true);
      });
    } catch {
      // Some errors are thrown: a batch file on Windows (EINVAL), a folder of the path that is a file (ENOTDIR).
      resolve(false);
    }
  });
}

/** Splits a command line into its program and arguments. Quotes keep spaces, as in `"C:\Program Files\Browser\browser.exe" --new-window`. */
function splitWords(command: string): readonly string[] {
  return [...command.matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  );
}

async function openDefault(url: string): Promise<boolean> {
  const { default: open } = await import('open');
  try {
    const child = await open(url);
    child.on('error', () => {});
    return true;
  } catch {
    // The machine has no command that opens URLs; the login prints the URL in any case.
    return false;
  }
}
