import { homedir, userInfo } from 'node:os';
import { posix, win32 } from 'node:path';
import { CliError } from '../base/errors.ts';
import type { ConfigAndStateFolders, ProcessEnvironment } from './host.ts';

/**
 * The folders of the program: `$CLOUDCTL_CONFIG_DIR` and `$CLOUDCTL_STATE_DIR`, else the standard folders of the platform. The
 * standard folders are those of the npm package env-paths 4. The package env-paths itself is not used, because it reads
 * process.env when it is imported and has no state folder (its folder for state is `log` on Linux and `data` elsewhere).
 */
export function resolveConfigAndStateFolders(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
): ConfigAndStateFolders {
  const standard = tables[platform === 'win32' || platform === 'darwin' ? platform : 'other'];
  const home = (): string => homeFolder(platform === 'win32' ? env.USERPROFILE : env.HOME);
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
 * If HOME is empty, the home folder of the password database is used, never the working directory. Throws `config_invalid` if
 * neither HOME nor the password database names a home folder.
 */
function homeFolder(variable: string | undefined): string {
  try {
    return variable || homedir() || userInfo().homedir;
  } catch (cause) {
    throw new CliError('config_invalid', 'no home folder: HOME is not set, and the system does not know this user', {
      hint: 'set HOME, or both CLOUDCTL_CONFIG_DIR and CLOUDCTL_STATE_DIR',
      cause,
    });
  }
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
} satisfies Record<
  string,
  Record<keyof ConfigAndStateFolders, (env: ProcessEnvironment, home: () => string) => string>
>;

/** A relative path in an XDG variable is invalid and is ignored (XDG Base Directory Specification 0.8, Basics). */
function xdg(folder: string | undefined): string | undefined {
  return folder !== undefined && posix.isAbsolute(folder) ? folder : undefined;
}
