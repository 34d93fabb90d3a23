import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Registry packages that tests use but the project does not depend on live here, out of package.json's tree. */
export const side = join(dirname(dirname(fileURLToPath(import.meta.url))), '.side');

/** npm, as a program and its first words: on Windows it is a script, which only a shell or Node starts. */
export const npmCommand = /npm-cli\.js$/.test(process.env.npm_execpath ?? '')
  ? [process.execPath, process.env.npm_execpath]
  : ['npm'];

/** A node of another version, from the registry's own package of this platform; undefined when it cannot be had. */
export function otherNode(range) {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const folder = join(side, `node-${range}`);
  const binary = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!runs(binary)) install(folder, `${name}@${range}`);
  return runs(binary) ? binary : undefined;
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
