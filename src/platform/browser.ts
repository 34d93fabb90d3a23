import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, Environment } from './host.ts';
import { detectRuntimeEnvironment } from './runtime-environment.ts';

/** Opens one address in the user's browser: the command of $BROWSER where it is set, else the platform's opener. */
export function systemBrowser(env: Environment, platform: NodeJS.Platform): Browser {
  return {
    async open(url) {
      const address = new URL(url);
      if (address.protocol !== 'http:' && address.protocol !== 'https:') throw new TypeError('not an http address');
      const named = env.BROWSER?.trim();
      if (named === 'none') return false;
      if (named) return openWith(named.split(delimiter), address.href, env);
      const around = detectRuntimeEnvironment(env, platform);
      // xdg-open without a display falls back to text browsers, which would read the terminal.
      if (!around.display && !around.wsl) return false;
      return openDefault(address.href);
    },
  };
}

/** Whether the platform's opener finds anything to start; only Linux comes without one. */
export function hasOpener(
  env: Environment,
  platform: NodeJS.Platform,
  exists: (path: string) => boolean = existsSync,
): boolean {
  if (platform !== 'linux' || detectRuntimeEnvironment(env, platform).wsl) return true;
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => openers.some((program) => exists(join(folder, program))));
}

/** What xdg-open, which comes with this program, hands the address to. */
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

/** $BROWSER is a list like PATH; `%s` in a command stands for the address, which else comes last. */
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
    // No shell: the address is one argument, whatever is in it.
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
    // There is no opener on this machine; the address is printed in any case.
    return false;
  }
}
