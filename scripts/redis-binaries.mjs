import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { side } from './extra-packages.mjs';

/** The Debian release that has each version. */
const suites = {
  'redis-6.0': 'bullseye',
  'redis-7.0': 'bookworm',
  'redis-8.0': 'trixie',
  'valkey-8.0': 'bookworm-backports',
  'valkey-9.1': 'forky',
};

/**
 * The command that starts a server of this version, from Debian's package, unpacked with its libraries and started through
 * its own loader; undefined when Debian no longer has it, or has another version by now.
 */
export function redisCommand(release) {
  const folder = join(side, release);
  if (!existsSync(folder)) unpackInto(folder, release);
  return commandIn(folder, release);
}

function commandIn(folder, release) {
  const [product] = release.split('-');
  const folders = ['lib', 'usr/lib'].flatMap((name) => {
    const at = join(folder, name, 'x86_64-linux-gnu');
    return existsSync(at) ? [at] : [];
  });
  const loader = folders.map((at) => join(at, 'ld-linux-x86-64.so.2')).find(existsSync);
  if (loader === undefined) return undefined;
  return [loader, '--library-path', folders.join(':'), join(folder, 'usr/bin', `${product}-server`)];
}

/** Two that unpack at the same time do not meet: each has a folder of its own. */
function unpackInto(folder, release) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return;
  const [product, version] = release.split('-');
  const fresh = `${folder}.${process.pid}.new`;
  const apt = `${fresh}.apt`;
  try {
    const debs = download(apt, suites[release], `${product}-tools`);
    mkdirSync(fresh, { recursive: true });
    for (const deb of debs) run('dpkg-deb', '-x', deb, fresh);
    if (!existsSync(join(fresh, 'usr/bin', `${product}-check-rdb`))) return;
    // The checker of RDB files is the server by another name.
    symlinkSync(`${product}-check-rdb`, join(fresh, 'usr/bin', `${product}-server`));
    const [loader, ...words] = commandIn(fresh, release) ?? [];
    if (loader === undefined) return;
    const { stdout } = spawnSync(loader, [...words, '--version'], { encoding: 'utf8' });
    if (stdout?.includes(`v=${version}.`)) renameSync(fresh, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) throw error;
  } finally {
    for (const made of [fresh, apt]) rmSync(made, { recursive: true, force: true });
  }
}

/** Packages of the release with all they depend on, through an apt whose state is in `folder`. Nothing is installed. */
function download(folder, suite, name) {
  for (const part of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(folder, part), { recursive: true });
  }
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const suitesNeeded = suite.endsWith('-backports') ? [suite.replace('-backports', ''), suite] : [suite];
  const lines = suitesNeeded.map((one) => `deb [signed-by=${key}] ${mirror()} ${one} main`);
  writeFileSync(join(folder, 'sources.list'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'status'), '');
  const options = [
    `Dir::State=${folder}/state`,
    `Dir::Cache=${folder}/cache`,
    `Dir::State::status=${folder}/status`,
    `Dir::Etc::sourcelist=${folder}/sources.list`,
    'Dir::Etc::sourceparts=-',
    'APT::Sandbox::User=root',
    'APT::Install-Recommends=false',
    'Debug::NoLocking=1',
  ].flatMap((option) => ['-o', option]);
  run('apt-get', '-qq', ...options, 'update');
  run('apt-get', '-qq', '-y', ...options, '--download-only', '-t', suite, 'install', name);
  const archives = join(folder, 'cache/archives');
  return readdirSync(archives)
    .filter((file) => /^(lib|lua|zlib|redis|valkey).*\.deb$/.test(file))
    .map((file) => join(archives, file));
}

/** The one that this machine already uses for its own release. */
function mirror() {
  const { VERSION_CODENAME: own } = Object.fromEntries(
    readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.split('=')),
  );
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(RELEASE) $(REPO_URI)'], { encoding: 'utf8' });
  const lines = (stdout ?? '').split('\n').map((line) => line.split(' '));
  return lines.find(([release]) => release === own)?.[1] ?? '';
}

function run(program, ...words) {
  return spawnSync(program, words, { stdio: 'ignore', timeout: 300_000 });
}
