import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandFor, type ProfileReference } from '../../config/settings.ts';
import type { BrowserEnvironment } from '../../platform/browser.ts';
import { findPrograms } from '../../platform/external-program.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import type { UnsafeEnvironmentVariable } from '../../platform/unsafe-environment-variable.ts';
import type { Finding } from './finding.ts';

export interface BrowserFacts {
  readonly runtime: BrowserEnvironment;
  /** Whether standard error is a terminal. */
  readonly isTerminal: boolean;
  /** The value of the environment variable `BROWSER`. */
  readonly browser: string | undefined;
  /** The program that opens URLs; undefined if there is none. */
  readonly opener: string | undefined;
  readonly profile: ProfileReference;
}

/**
 * Checks how a login opens the sign-in page. The check of the browser never fails, because a login always prints the
 * authorization URL.
 */
export function checkBrowser({ runtime, isTerminal, browser, opener, profile }: BrowserFacts): Finding {
  const id = 'browser';
  const paste = commandFor(profile, 'auth login --paste');
  const warn = (observed: string, hint: string): Finding => ({ id, status: 'warning', observed, hint });
  if (runtime.ci)
    return warn('CI is set: a login opens no browser', 'open the printed URL in any browser, or unset CI');
  if (!isTerminal)
    return warn('standard error is not a terminal: a login opens no browser', `open the printed URL, or use ${paste}`);
  if (browser?.trim() === 'none')
    return warn('BROWSER=none: a login opens no browser', 'open the printed URL in any browser, or unset BROWSER');
  if (browser?.trim()) {
    if (opener !== undefined) return { id, status: 'ok', observed: `BROWSER is set: a login runs ${opener}` };
    return warn('BROWSER names no installed program: a login opens no browser', '`unset BROWSER`');
  }
  if (!runtime.display && !runtime.wsl)
    return warn('no graphical display', `open the printed URL in a browser on another machine, with ${paste}`);
  if (opener === undefined)
    return warn(
      'no program that opens a browser was found',
      'install such a program (on Debian: `apt-get install xdg-utils`), or set BROWSER',
    );
  return { id, status: 'ok', observed: `a login opens the default browser, with ${opener}` };
}

/** Whether the browser of the user can reach a port of this machine. */
export function checkSurroundings({ runtime, profile }: Pick<BrowserFacts, 'runtime' | 'profile'>): Finding {
  const id = 'surroundings';
  const paste = commandFor(profile, 'auth login --paste');
  const warn = (observed: string, hint: string): Finding => ({ id, status: 'warning', observed, hint });
  if (runtime.codespaces) return warn('codespace: your browser cannot reach its ports', `use ${paste}`);
  if (runtime.ssh !== undefined)
    return warn(
      'SSH session: your browser cannot reach the loopback interface of this machine',
      `use ${paste}, or forward the port; \`cloudctl auth login\` prints the \`ssh -L\` line`,
    );
  if (runtime.container) return warn('container: a browser outside cannot reach its ports', `use ${paste}`);
  if (runtime.wsl)
    return { id, status: 'ok', observed: `WSL: if the browser of Windows cannot open the last page, use ${paste}` };
  return { id, status: 'ok', observed: 'local machine' };
}

/**
 * Whether another program of the same name is on PATH, which scripts would start, now or when the order changes. Other projects
 * use the name too.
 * @param program the file that was started
 */
export function checkPath(program: string, env: ProcessEnvironment, platform: NodeJS.Platform): Finding {
  const id = 'path';
  const isWindows = platform === 'win32';
  const found = findPrograms(isWindows ? ['cloudctl.exe', 'cloudctl.cmd', 'cloudctl.bat'] : ['cloudctl'], env);
  const others = found.filter((path) => {
    // On Windows npm writes a file that starts the script, instead of a link.
    const isShim = isWindows && !path.endsWith('.exe');
    return !isStart(isShim ? join(dirname(path), 'node_modules/cloudctl/bin/cloudctl.cjs') : path, program);
  });
  const [first] = others;
  if (first === undefined) return { id, status: 'ok', observed: 'no other program on PATH is called cloudctl' };
  const observed =
    first === found[0]
      ? `\`cloudctl\` starts ${first}, not this program, ${program}`
      : `PATH has another program after this one: ${others.join(', ')}`;
  const list = isWindows ? 'where.exe cloudctl' : 'which -a cloudctl';
  return { id, status: 'warning', observed, hint: `\`${list}\` lists both: remove one, or change their order in PATH` };
}

/** Whether the file is the program, leads to it, or is a script that names it, as those of version managers do. */
function isStart(path: string, program: string): boolean {
  try {
    const own = realpathSync(program);
    if (realpathSync(path) === own) return true;
    if (statSync(path).size > 65_536) return false;
    const text = readFileSync(path, 'utf8');
    return text.startsWith('#!') && [own, program].some((name) => text.includes(name));
  } catch {
    return false;
  }
}

/** Checks the environment variables that prevent a login or change how requests are sent. */
export function checkEnvironment(
  hazard: UnsafeEnvironmentVariable | undefined,
  accessToken: boolean,
  proxies: readonly { readonly origin: string; readonly proxy: string }[],
): readonly Finding[] {
  const safe: Finding =
    hazard === undefined
      ? { id: 'environment', status: 'ok', observed: 'no variable exposes secrets or weakens TLS' }
      : {
          id: 'environment',
          status: 'failed',
          observed: `${hazard.variable}=${hazard.value} ${hazard.why}`,
          hint: `\`unset ${hazard.variable}\``,
        };
  const token: readonly Finding[] = accessToken
    ? [
        {
          id: 'access-token',
          status: 'warning',
          observed: 'CLOUDCTL_ACCESS_TOKEN is set: the stored session is not used',
          hint: '`unset CLOUDCTL_ACCESS_TOKEN`',
        },
      ]
    : [];
  const through = proxies.map(
    ({ origin, proxy }): Finding => ({
      id: 'proxy',
      status: 'ok',
      observed: `requests to ${origin} use the proxy ${proxy}`,
    }),
  );
  return [safe, ...token, ...through];
}
