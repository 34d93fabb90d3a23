import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { side } from './extra-packages.mjs';

/**
 * The folder `name` with Debian packages and what they depend on, unpacked without installing them; undefined when Debian no
 * longer has them, or `isUsable` refuses the folder. `suite` is the Debian release, `files` the downloaded files to unpack.
 */
export function unpackedPackage(name, { suite, packages, files, isUsable }) {
  const folder = join(side, name);
  if (!existsSync(folder)) unpackInto(folder, { suite, packages, files, isUsable });
  return existsSync(folder) ? folder : undefined;
}

/** The command of a program in such a folder, started through the loader of its own release; undefined without a loader. */
export function unpackedCommand(folder, program) {
  const folders = ['lib', 'usr/lib'].flatMap((name) => {
    const at = join(folder, name, 'x86_64-linux-gnu');
    return existsSync(at) ? [at] : [];
  });
  const loader = folders.map((at) => join(at, 'ld-linux-x86-64.so.2')).find(existsSync);
  if (loader === undefined) return undefined;
  return [loader, '--library-path', folders.join(':'), join(folder, program)];
}

/** Two that unpack at the same time do not meet: each has a folder of its own. */
function unpackInto(folder, { suite, packages, files, isUsable }) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return;
  const fresh = `${folder}.${process.pid}.new`;
  const apt = `${fresh}.apt`;
  try {
    const debs = download(apt, suite, packages).filter((file) => files.test(file));
    mkdirSync(fresh, { recursive: true });
    for (const deb of debs) run('dpkg-deb', '-x', join(apt, 'cache/archives', deb), fresh);
    if (isUsable(fresh)) renameSync(fresh, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) throw error;
  } finally {
    for (const made of [fresh, apt]) rmSync(made, { recursive: true, force: true });
  }
}

/** Packages of the release with all they depend on, through an apt whose state is in `folder`. Nothing is installed. */
function download(folder, suite, packages) {
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
  run('apt-get', '-qq', '-y', ...options, '--download-only', '-t', suite, 'install', ...packages);
  return readdirSync(join(folder, 'cache/archives'));
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
