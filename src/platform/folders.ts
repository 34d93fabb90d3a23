import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import { posix, win32 } from 'node:path';
import { CliError } from '../base/errors.ts';
import type { Folders, ProcessEnvironment } from './host.ts';

/**
 * The folders of the program: `$CLOUDCTL_CONFIG_DIR` and `$CLOUDCTL_STATE_DIR`, else the standard folders of the platform. The
 * standard folders are those of the npm package env-paths 4. The package env-paths itself is not used, because it reads
 * process.env when it is imported and has no state folder (its folder for state is `log` on Linux and `data` elsewhere).
 */
export function resolveFolders(env: ProcessEnvironment, platform: NodeJS.Platform): Folders {
  const standard = tables[platform === 'win32' || platform === 'darwin' ? platform : 'other'];
  const { isAbsolute } = platform === 'win32' ? win32 : posix;
  const home = (): string => homeFolder(platform === 'win32' ? env.USERPROFILE : env.HOME, isAbsolute);
  return {
    get config() {
      return absolute(env.CLOUDCTL_CONFIG_DIR, platform) ?? standard.config(env, home);
    },
    get state() {
      return absolute(env.CLOUDCTL_STATE_DIR, platform) ?? standard.state(env, home);
    },
  };
}

/**
 * If HOME is empty or relative, the home folder of the password database is used, never the working directory. A user whom the
 * system does not know, as in `docker run --user 12345`, has no home folder: reads find nothing in `noHome`.
 */
function homeFolder(variable: string | undefined, isAbsolute: (path: string) => boolean): string {
  if (variable !== undefined && isAbsolute(variable)) return isLocked(variable) ? lockedHome : variable;
  try {
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : noHome;
  } catch {
    return noHome;
  }
}

/** Whether no variable tells where config.json is, as under cron: the home folder of the password database is a guess then. */
export function isHomeUnset(env: ProcessEnvironment, platform: NodeJS.Platform = process.platform): boolean {
  if (platform === 'win32' || absolute(env.CLOUDCTL_CONFIG_DIR, platform) !== undefined) return false;
  const known = platform === 'darwin' ? [env.HOME] : [env.HOME, env.XDG_CONFIG_HOME];
  return !known.some((path) => path !== undefined && posix.isAbsolute(path));
}

/** HOME may be a folder of another user, such as /root in `docker run --user 12345`. */
function isLocked(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES';
  }
}

/** Paths at which nothing exists. `requireHome` refuses to create them. */
const noHome = '/nonexistent/cloudctl-no-home';
const lockedHome = '/nonexistent/cloudctl-locked-home';

/** Throws `config_invalid` for a path in the home folder of a user who has none. Called before a folder is created or shown. */
export function requireHome(path: string): void {
  if (!isHomeless(path)) return;
  const reason = path.startsWith(lockedHome)
    ? 'HOME is a folder that this user cannot enter'
    : 'HOME is not set, and the system does not know this user';
  throw new CliError('config_invalid', `no home folder: ${reason}`, {
    hint: 'set HOME, or both CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR',
  });
}

export function isHomeless(path: string): boolean {
  return path.startsWith(noHome) || path.startsWith(lockedHome);
}

/** The path is made absolute, so that a suggested command with this path works in every working directory. */
function absolute(folder: string | undefined, platform: NodeJS.Platform): string | undefined {
  if (folder === undefined || folder === '') return undefined;
  const path = platform === 'win32' ? win32 : posix;
  return path.isAbsolute(folder) ? folder : path.resolve(folder);
}

const name = 'cloudctl';

const tables = {
  darwin: {
    config: (_env, home) => posix.join(home(), 'Library', 'Preferences', name),
    state: (_env, home) => posix.join(home(), 'Library', 'Application Support', name),
  },
  win32: {
    config: (env, home) => win32.join(env.APPDATA || win32.join(home(), 'AppData', 'Roaming'), name, 'Config'),
    state: (env, home) => win32.join(env.LOCALAPPDATA || win32.join(home(), 'AppData', 'Local'), name, 'Data'),
  },
  other: {
    config: (env, home) => posix.join(xdg(env.XDG_CONFIG_HOME) ?? posix.join(home(), '.config'), name),
    state: (env, home) => posix.join(xdg(env.XDG_STATE_HOME) ?? posix.join(home(), '.local', 'state'), name),
  },
} satisfies Record<string, Record<keyof Folders, (env: ProcessEnvironment, home: () => string) => string>>;

/** A relative path in an XDG variable is invalid and is ignored (XDG Base Directory Specification 0.8, Basics). */
function xdg(folder: string | undefined): string | undefined {
  return folder !== undefined && posix.isAbsolute(folder) ? folder : undefined;
}
