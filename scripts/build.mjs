// `npm run build` builds dist/ from the sources; with `--test`, dist-test/. `tsc` only checks types and is a separate stage.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build as esbuild } from 'esbuild';
import { buildPacks } from './bundle.mjs';
import { buildLibrary, writeDeclarations } from './library.mjs';
import { notices } from './notices.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where the metafile of the last build is kept for the tests; it is not part of the package. */
export const metafilePath = join(root, 'node_modules', '.cache', 'cloudctl', 'metafile.json');

/** Native modules load their binaries from their own folder, so they cannot be bundled. */
const external = ['@napi-rs/keyring', 'fs-native-extensions'];

/**
 * Builds `entries` of the project at `from` into `dist`. The new folder is finished before it takes the old one's
 * place, so a program that is started during a build loads one of the two, never a mixture. `forTests` includes the hook
 * that interrupts a refresh (src/auth/session/run.ts); the product does not contain it.
 */
export async function build({
  from = root,
  dist = join(root, 'dist'),
  metafile = metafilePath,
  forTests = false,
} = {}) {
  const fresh = join(dirname(dist), '.side', `dist.${process.pid}.new`);
  rmSync(fresh, { recursive: true, force: true });
  const options = { ...common(from, forTests), outdir: fresh };
  const metafiles = await Promise.all([
    buildPacks({ ...options, entry: join(from, 'src/entry.ts') }),
    buildKeychainHelper({ ...options, entryPoints: { keychain: join(from, 'src/platform/keychain-child.ts') } }),
  ]).catch((error) => {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  });
  const meta = merge(metafiles.flat());
  writeFileSync(join(fresh, 'help.txt'), printed(join(fresh, 'entry.cjs'), '__help'));
  beside(fresh, meta);
  if (!forTests && from === root) {
    await buildLibrary(root, join(fresh, 'library'), common(root, false));
    writeDeclarations(root, join(fresh, 'library'));
  }
  writeFileSync(join(fresh, 'THIRD-PARTY-NOTICES.txt'), notices(root, meta));
  swap(fresh, dist);
  mkdirSync(dirname(metafile), { recursive: true });
  writeFileSync(metafile, JSON.stringify(meta));
  return meta;
}

/** The build for tests of interruptions: `dist-test/entry.cjs` is the program with its hook. */
export function buildForTests() {
  const folder = join(root, 'dist-test');
  return build({ dist: folder, metafile: join(dirname(metafilePath), 'metafile-test.json'), forTests: true });
}

/** What the built program prints. */
function printed(program, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    maxBuffer: 16 * 1024 * 1024,
    env: { ...process.env, CLOUDCTL_CODE_CACHE: 'off' },
  });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

/** One file, because the helper process starts while a command waits for it. */
async function buildKeychainHelper(options) {
  const { metafile } = await esbuild({
    ...options,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // Neither a module without a file nor compiled code that was stored can import (scripts/standalone.mjs).
    supported: { 'dynamic-import': false },
  });
  return [metafile];
}

/** @returns {import('esbuild').BuildOptions} */
export function common(from, forTests) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    absWorkingDir: from,
    bundle: true,
    platform: 'node',
    target: 'node20.18',
    external,
    alias: {
      // Its main file uses its own require function, which a bundler cannot follow.
      'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
      // As ES modules, of which the bundle takes what is used.
      yaml: join(root, 'node_modules/yaml/browser/dist/index.js'),
      '@inquirer/editor': join(root, 'scripts/no-editor-prompt.mjs'),
    },
    define: { __VERSION__: JSON.stringify(version), __TEST_BUILD__: String(forTests) },
    metafile: true,
    // Identifiers are not shortened, so a stack trace names functions of the sources.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
  };
}

function merge(metafiles) {
  return {
    inputs: Object.assign({}, ...metafiles.map((meta) => meta.inputs)),
    outputs: Object.assign(
      {},
      ...metafiles.map((meta) =>
        Object.fromEntries(Object.entries(meta.outputs).map(([path, output]) => [path.split('/').at(-1), output])),
      ),
    ),
  };
}

/** The `open` package runs a script that it expects in its own folder. */
function beside(fresh, meta) {
  const bundlesOpen = Object.keys(meta.inputs).some((path) => path.includes('node_modules/open/'));
  if (!bundlesOpen) return;
  copyFileSync(join(root, 'node_modules/open/xdg-open'), join(fresh, 'xdg-open'));
  chmodSync(join(fresh, 'xdg-open'), 0o755);
}

function swap(fresh, dist) {
  const old = `${fresh}.old`;
  try {
    renameSync(dist, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const started = performance.now();
  try {
    const forTests = process.argv.includes('--test');
    await (forTests ? buildForTests() : build());
    const folder = join(root, forTests ? 'dist-test' : 'dist');
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    console.log(
      `${forTests ? 'dist-test' : 'dist'}: ${sizes.length} files, ${Math.round(bytes / 1024)} KiB, ${Math.round(performance.now() - started)} ms`,
    );
  } catch (error) {
    // esbuild has already printed the errors.
    if (!('errors' in error)) throw error;
    process.exitCode = 1;
  }
}
