import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, Environment } from './host.ts';
import { detectRuntimeEnvironment } from './runtime-environment.ts';

/** Opens a URL in the browser of the user: with the command in $BROWSER, else with the opener of the platform. */
export function systemBrowser(env: Environment, platform: NodeJS.Platform): Browser {
  return {
    async open(url) {
      const address = new URL(url);
      if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new TypeError('not an http URL');
      const command = env.BROWSER?.trim();
      if (command === 'none') return false;
      if (command) return openWith(command.split(delimiter), address.href, env);
      const environment = detectRuntimeEnvironment(env, platform);
      // Without a display xdg-open would start a text browser in the terminal.
      if (!environment.display && !environment.wsl) return false;
      return openDefault(address.href);
    },
  };
}

/** Whether there is an opener; it can be missing only on Linux. */
export function canOpenUrl(
  env: Environment,
  platform: NodeJS.Platform,
  exists: (path: string) => boolean = existsSync,
): boolean {
  if (platform !== 'linux' || detectRuntimeEnvironment(env, platform).wsl) return true;
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => openers.some((program) => exists(join(folder, program))));
}

/** The programs that xdg-open, which is part of this package, can start. */
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

/** $BROWSER is a list like PATH. `%s` in a command stands for the URL; without it the URL is the last argument. */
async function openWith(commands: readonly string[], url: string, env: Environment): Promise<boolean> {
  for (const command of commands) {
    const [program, ...words] = command.split(' ').filter((word) => word !== '');
    if (program === undefined) continue;
    const placed = words.map((word) => word.replaceAll('%s', url));
    const args = words.some((word) => word.includes('%s')) ? placed : [...words, url];
    if (await tryStart(program, args, env)) return true;
  }
  return false;
}

function tryStart(program: string, args: readonly string[], env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    // Without a shell the URL is one argument, whatever it contains.
    const child = spawn(program, args, { env, detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

async function openDefault(url: string): Promise<boolean> {
  const { default: open } = await import('open');
  try {
    const child = await open(url);
    child.on('error', () => {});
    return true;
  } catch {
    // This machine has no opener; the URL is printed in any case.
    return false;
  }
}
