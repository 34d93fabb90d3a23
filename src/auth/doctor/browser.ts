import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { commandFor, type ProfileReference } from '../../config/settings.ts';
import type { BrowserEnvironment } from '../../platform/browser.ts';
import { findPrograms, pathEntries } from '../../platform/external-program.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import type { UnsafeVariable } from '../../platform/unsafe-variable.ts';
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
  if (profile.isTokenOnly === true) return { id, status: 'ok', observed: tokenOnlyText };
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

const tokenOnlyText = '`auth login --with-token` needs no browser';

/** Whether the browser of the user can reach a port of this machine. */
export function checkSurroundings({ runtime, profile }: Pick<BrowserFacts, 'runtime' | 'profile'>): Finding {
  const id = 'surroundings';
  const paste = commandFor(profile, 'auth login --paste');
  const warn = (observed: string, hint: string): Finding => ({ id, status: 'warning', observed, hint });
  if (profile.isTokenOnly === true) return { id, status: 'ok', observed: tokenOnlyText };
  if (runtime.codespaces) return warn('codespace: your browser cannot reach its ports', `use ${paste}`);
  if (runtime.ssh !== undefined)
    return warn(
      'SSH session: your browser cannot reach the loopback interface of this machine',
      `use ${paste}, or forward the port; ${commandFor(profile, 'auth login')} prints the \`ssh -L\` line`,
    );
  if (runtime.container) return warn('container: a browser outside cannot reach its ports', `use ${paste}`);
  if (runtime.wsl)
    return { id, status: 'ok', observed: `WSL: if the browser of Windows cannot open the last page, use ${paste}` };
  return { id, status: 'ok', observed: 'local machine' };
}

/**
 * Whether another program of the same name is on PATH, which scripts would start, now or when the order changes, or PATH has an
 * entry before this program that names another folder in each current folder. Other projects use the name too.
 * @param program the file that was started
 */
export function checkPath(program: string, env: ProcessEnvironment, platform: NodeJS.Platform): Finding {
  const id = 'path';
  const isWindows = platform === 'win32';
  const names = isWindows ? ['cloudctl.exe', 'cloudctl.cmd', 'cloudctl.bat'] : ['cloudctl'];
  const found = findPrograms(names, env);
  const others = found.filter((path) => !isStart(path, program));
  const [first] = found;
  const list = isWindows ? 'where.exe cloudctl' : 'which -a cloudctl';
  const hint = `\`${list}\` lists both: remove one, or change their order in PATH`;
  if (first !== undefined && first === others[0])
    return { id, status: 'warning', observed: `\`cloudctl\` starts ${first}, not this program, ${program}`, hint };
  const entries = pathEntries(env);
  const at = entries.findIndex((entry) => findPrograms(names, { PATH: entry }).length > 0);
  const before = at === -1 ? entries : entries.slice(0, at);
  const moving = before.find((entry) => !isAbsolute(entry) && !(isWindows && entry === ''));
  if (moving !== undefined) {
    const what = moving === '' ? 'an empty entry, the current folder' : `the relative entry ${JSON.stringify(moving)}`;
    return {
      id,
      status: 'warning',
      observed: `PATH has ${what}: \`cloudctl\` starts any program of that name there, before this one`,
      hint: `remove the entry: \`${isWindows ? 'cmd /c set path' : 'printenv PATH'}\` shows its place`,
    };
  }
  if (others.length === 0) return { id, status: 'ok', observed: 'no other program on PATH is called cloudctl' };
  return { id, status: 'warning', observed: `PATH has another program after this one: ${others.join(', ')}`, hint };
}

/** Whether the file is the program, or does nothing but start it. */
function isStart(path: string, program: string): boolean {
  try {
    const own = realpathSync(program);
    if (realpathSync(path) === own) return true;
    if (statSync(path).size > 65_536) return false;
    const target = startedBy(path, readFileSync(path, 'utf8'));
    return target !== undefined && isAbsolute(target) && realpathSync(target) === own;
  } catch {
    return false;
  }
}

/** The one file that a script starts: a script of one command, and on Windows the file that npm writes instead of a link. */
function startedBy(path: string, text: string): string | undefined {
  if (/\.(cmd|bat)$/.test(path)) {
    const inFolder = /"%_prog%" {2}"%dp0%\\([\w\\.-]+)" %\*\s*$/.exec(text)?.[1];
    return inFolder === undefined ? undefined : join(dirname(path), inFolder.replaceAll('\\', '/'));
  }
  const [first = '', ...lines] = text.split('\n').filter((line, at) => at === 0 || !/^\s*(#|$)/.test(line));
  if (!/^#! ?(\/usr)?\/bin\/(env )?(ba|da|z|k)?sh\s*$/.test(first)) return undefined;
  const word = `('[^']+'|"[^"$\`\\\\]+"|[\\w/.+@-]+)`;
  const command = new RegExp(`^exec (?:${word} )?${word} "\\$@"\\s*$`).exec(lines.join('\n')) ?? [];
  const [runtime, target] = command.slice(1).map((quoted) => quoted?.replaceAll(/^['"]|['"]$/g, ''));
  // Another runtime can do anything with the file.
  const isOwn =
    runtime === undefined || (isAbsolute(runtime) && realpathSync(runtime) === realpathSync(process.execPath));
  return isOwn ? target : undefined;
}

/** Checks the environment variables that prevent a login or change how requests are sent. */
export function checkEnvironment(
  hazard: UnsafeVariable | undefined,
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
