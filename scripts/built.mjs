import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './suite.mjs';

/** Before the end-to-end tests: they run the built program, so it must be the one of these sources. */
export async function setup() {
  const built = join(root, 'dist/main.js');
  const sources = ['src', 'scripts', 'package.json'].map((path) => newest(join(root, path)));
  if (existsSync(built) && statSync(built).mtimeMs > Math.max(...sources)) return;
  await build();
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((latest, entry) => Math.max(latest, newest(join(path, entry))), mtimeMs);
}
