import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build, buildForTests } from './build.mjs';
import { root } from './run-vitest.mjs';

/** Before the end-to-end tests: they run the built program, and the build that can be interrupted, so both must be of these sources. */
export async function setup() {
  await buildIfOlder();
  if (isOlder('dist-test', newestSource())) await buildForTests();
}

/** dist/ of these sources, where it is not there already. */
export async function buildIfOlder() {
  if (isOlder('dist', newestSource())) await build();
}

function newestSource() {
  return Math.max(...['src', 'scripts', 'package.json', 'package-lock.json'].map((path) => newest(join(root, path))));
}

function isOlder(folder, sources) {
  const built = join(root, folder, 'main.cjs');
  return !existsSync(built) || statSync(built).mtimeMs <= sources;
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((latest, entry) => Math.max(latest, newest(join(path, entry))), mtimeMs);
}
