import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The lowest version of Node for development; the program itself runs on older ones (package.json "engines"). */
export const lowest = [20, 19];

/** Programs that tests start, each with its Debian package. */
const programs = {
  chromium: 'chromium',
  'gnome-keyring-daemon': 'gnome-keyring',
  'dbus-daemon': 'dbus',
  'dbus-run-session': 'dbus',
  'dbus-send': 'dbus',
  'secret-tool': 'libsecret-tools',
  strace: 'strace',
  tmux: 'tmux',
  script: 'bsdutils',
  setpriv: 'util-linux',
  openssl: 'openssl',
  zsh: 'zsh',
  fish: 'fish',
  bash: 'bash',
  dash: 'dash',
  make: 'make',
  ip: 'iproute2',
  python3: 'python3',
  xargs: 'findutils',
  jq: 'jq',
  psql: 'postgresql-client',
  pgbouncer: 'pgbouncer',
  pgcopydb: 'pgcopydb',
  'redis-server': 'redis-server',
  'redis-cli': 'redis-tools',
  'valkey-server': 'valkey-server',
  'dpkg-shlibdeps': 'dpkg-dev',
  rpmbuild: 'rpm',
  xz: 'xz-utils',
};

export function nodeIsOld(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  return major < lowest[0] || (major === lowest[0] && minor < lowest[1]);
}

export function missingPrograms() {
  return Object.keys(programs).filter((program) => !onPath(program));
}

/** The command that installs the missing programs. */
export function installCommand(missing) {
  return `sh scripts/install-debian.sh ${packagesOf(missing).join(' ')}`;
}

/** Installs Debian packages if that needs no password; returns whether all programs exist afterwards. */
export function installPrograms(missing) {
  const before = privilege();
  if (before === undefined || !onPath('apt-get')) return false;
  const words = [...before, 'sh', join(import.meta.dirname, 'install-debian.sh'), ...packagesOf(missing)];
  console.log(`$ ${installCommand(missing)}`);
  spawnSync(words[0], words.slice(1), { stdio: ['ignore', 'ignore', 'inherit'] });
  return missingPrograms().length === 0;
}

function packagesOf(missing) {
  return [...new Set(missing.map((name) => programs[name]))];
}

/** The prefix that runs a command as root; undefined when that needs a password. */
function privilege() {
  if (process.getuid?.() === 0) return [];
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  return sudo.status === 0 ? ['sudo', '-n'] : undefined;
}

function onPath(program) {
  return [...(process.env.PATH ?? '').split(':'), '/usr/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
