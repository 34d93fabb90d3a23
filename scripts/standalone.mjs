// `npm run build:standalone` writes dist-standalone/: the program as one executable that needs no Node, its checksum, and the
// licences. `-- --node PATH` takes another Node than the one that runs this, `-- --xz` compresses the executable as well.
// docs/decisions/028-standalone.md says how it works.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build as esbuild } from 'esbuild';
import { inject } from 'postject';
import { build, common } from './build.mjs';
import { root } from './run-vitest.mjs';

const standaloneFolder = join(root, 'dist-standalone');
const standaloneProgram = join(standaloneFolder, process.platform === 'win32' ? 'cloudctl.exe' : 'cloudctl');

/**
 * Packs that almost every command needs. V8 compiles a function in parentheses with the script, so the code cache has it. Every
 * start reads the whole script, so the other packs are assets.
 */
const packsOfMain = ['entry', 'token', 'secret-service', 'main', 'run', 'network', 'droplets', 'keychain'];

/** The mark in the binary of Node that says whether it contains a program (Node manual, single executable applications). */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Builds dist/, and the executable from it. Resolves with the path of the executable. */
export async function buildStandalone({ node = process.execPath, xz = false } = {}) {
  await build();
  const assets = assetFiles();
  const [packs, start] = [packText(), await startText()];
  const digest = createHash('sha256').update(packs).update(start);
  for (const path of Object.values(assets)) digest.update(readFileSync(path));
  const id = digest.digest('hex').slice(0, 16);
  rmSync(standaloneFolder, { recursive: true, force: true });
  const parts = join(standaloneFolder, 'parts');
  mkdirSync(parts, { recursive: true });
  const main = join(parts, 'main.cjs');
  writeFileSync(main, `${packs}const standaloneBuild=${JSON.stringify(id)};\n${start}`);
  const blob = join(parts, 'program.blob');
  const config = join(parts, 'sea-config.json');
  const sea = { main, output: blob, assets, disableExperimentalSEAWarning: true, useCodeCache: true };
  writeFileSync(config, JSON.stringify(sea));
  execFileSync(node, ['--experimental-sea-config', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  copyFileSync(node, standaloneProgram);
  chmodSync(standaloneProgram, 0o755);
  strip(standaloneProgram);
  await injectBlob(standaloneProgram, readFileSync(blob));
  rmSync(parts, { recursive: true });
  writeLicences(node);
  const printed = execFileSync(standaloneProgram, ['--version'], { encoding: 'utf8' });
  if (!printed.includes(id)) throw new Error(`the executable prints ${printed}`);
  if (xz) execFileSync('xz', ['--keep', '--threads=0', standaloneProgram], { stdio: 'inherit' });
  writeChecksums();
  return standaloneProgram;
}

/** What the packs read beside them, and the native modules, by the names of src/standalone.ts. */
function assetFiles() {
  const dist = join(root, 'dist');
  const beside = readdirSync(dist).filter(
    (name) =>
      /\.(cjs|txt|wasm)$/.test(name) &&
      !packsOfMain.includes(name.replace('.cjs', '')) &&
      !name.startsWith('THIRD-PARTY'),
  );
  return {
    ...Object.fromEntries(beside.map((name) => [name, join(dist, name)])),
    'keyring.node': keyringBinary(),
    'fs-native-extensions.node': lockBinary(),
  };
}

/** npm has installed the package of the binary for this system only. */
function keyringBinary() {
  const scope = join(root, 'node_modules/@napi-rs');
  const [name] = readdirSync(scope).filter((found) => found.startsWith('keyring-'));
  return createRequire(join(scope, 'keyring/index.js')).resolve(`@napi-rs/${name}`);
}

function lockBinary() {
  const folder = join(root, 'node_modules/fs-native-extensions/prebuilds', `${process.platform}-${process.arch}`);
  return join(folder, 'fs-native-extensions.node');
}

function packText() {
  const members = packsOfMain.map((name) => {
    const text = readFileSync(join(root, 'dist', `${name}.cjs`), 'utf8');
    return `'${name}.cjs':(function(exports,require,module,__filename,__dirname){${text}\n})`;
  });
  return `"use strict";const standalonePacks={${members.join(',\n')}};\n`;
}

async function startText() {
  const { outputFiles } = await esbuild({
    ...common(root, false),
    entryPoints: [join(root, 'src/standalone.ts')],
    format: 'cjs',
    write: false,
    metafile: false,
  });
  return outputFiles[0].text;
}

/** Symbols for debuggers are a quarter of the binary of Node. */
function strip(path) {
  if (process.platform === 'win32') return;
  if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', path]);
  const { status, error } = spawnSync('strip', [path], { stdio: 'inherit' });
  if (status !== 0) console.log(`not stripped: ${error?.message ?? `strip ended with ${status}`}`);
}

async function injectBlob(path, blob) {
  const segment = process.platform === 'darwin' ? { machoSegmentName: 'NODE_SEA' } : {};
  await inject(path, 'NODE_SEA_BLOB', blob, { sentinelFuse: fuse, ...segment });
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', path]);
}

function writeLicences(node) {
  const prefix = dirname(dirname(node));
  const places = [join(prefix, 'LICENSE'), join(prefix, 'share/doc/nodejs/LICENSE'), join(prefix, '../../LICENSE')];
  const found = places.find((path) => existsSync(path));
  if (found === undefined)
    console.log('the licence of Node was not found beside it: add it before you pass the executable on');
  const ours = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const ofNode = found === undefined ? '' : `\nNode.js\n\n${readFileSync(found, 'utf8')}`;
  writeFileSync(join(standaloneFolder, 'THIRD-PARTY-NOTICES.txt'), ours + ofNode);
  copyFileSync(join(root, 'LICENSE'), join(standaloneFolder, 'LICENSE'));
}

function writeChecksums() {
  const names = readdirSync(standaloneFolder).filter((name) => name !== 'SHA256SUMS');
  const lines = names.map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(standaloneFolder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(standaloneFolder, 'SHA256SUMS'), lines.join(''));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({ options: { node: { type: 'string' }, xz: { type: 'boolean', default: false } } });
  const started = performance.now();
  const program = await buildStandalone(values);
  const size = (path) => `${(statSync(path).size / 1e6).toFixed(1)} MB`;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${program}: ${size(program)}${values.xz ? `, ${size(`${program}.xz`)} as xz` : ''}, ${seconds} s`);
  console.log(execFileSync(program, ['--version'], { encoding: 'utf8' }).trim());
}
