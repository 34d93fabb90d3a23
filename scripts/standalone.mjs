// `npm run build:standalone` writes dist-standalone/: the program as one executable that needs no Node, its checksum, and the
// licences. It contains the Node 24 that scripts/extra-packages.mjs pins, whatever Node runs this; `-- --node PATH` packs another.
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
  renameSync,
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
import { pinnedNode } from './extra-packages.mjs';
import { root } from './run-vitest.mjs';

export const standaloneFolder = join(root, 'dist-standalone');
const standaloneProgram = join(standaloneFolder, process.platform === 'win32' ? 'cloudctl.exe' : 'cloudctl');

/**
 * Packs that almost every command needs. V8 compiles a function in parentheses with the script, so the code cache has it. Every
 * start reads the whole script, so the other packs are assets.
 */
const packsOfMain = ['entry', 'token', 'secret-service', 'main', 'run', 'network', 'droplets', 'keychain'];

/** The mark in the binary of Node that says whether it contains a program (Node manual, single executable applications). */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Builds dist/, and the executable from it. Resolves with the path of the executable.
 * @param {{ node?: string, buildFirst?: () => Promise<unknown> }} options
 */
export async function buildStandalone({ node = pinnedNode(), buildFirst = build } = {}) {
  if (node === undefined) throw new Error('the pinned Node could not be installed: name another with --node');
  await buildFirst();
  rmSync(standaloneFolder, { recursive: true, force: true });
  const parts = join(standaloneFolder, 'parts');
  mkdirSync(parts, { recursive: true });
  const assets = { ...filesBeside(), ...nativeModules(parts) };
  const [packs, start] = [packText(), await startText()];
  const digest = createHash('sha256').update(packs).update(start);
  for (const path of Object.values(assets)) digest.update(readFileSync(path));
  const id = digest.digest('hex').slice(0, 16);
  const main = join(parts, 'main.cjs');
  writeFileSync(main, `${packs}const standaloneBuild=${JSON.stringify(id)};\n${start}`);
  const blob = join(parts, 'program.blob');
  const config = join(parts, 'sea-config.json');
  const sea = { main, output: blob, assets, disableExperimentalSEAWarning: true, useCodeCache: true };
  writeFileSync(config, JSON.stringify(sea));
  execFileSync(node, ['--experimental-sea-config', config], { stdio: 'pipe' });
  copyFileSync(node, standaloneProgram);
  chmodSync(standaloneProgram, 0o755);
  strip(standaloneProgram);
  await injectBlob(standaloneProgram, readFileSync(blob));
  for (const name of Object.keys(assets).filter((found) => found.endsWith('.node')))
    renameSync(join(parts, name), join(standaloneFolder, name));
  rmSync(parts, { recursive: true });
  writeLicences(node);
  const printed = execFileSync(standaloneProgram, ['--version'], { encoding: 'utf8' });
  if (!printed.includes(id)) throw new Error(`the executable prints ${printed}`);
  writeChecksums(standaloneFolder);
  return standaloneProgram;
}

/** What the packs read beside them. */
function filesBeside() {
  const dist = join(root, 'dist');
  const beside = readdirSync(dist).filter(
    (name) =>
      /\.(cjs|txt|wasm)$/.test(name) &&
      !packsOfMain.includes(name.replace('.cjs', '')) &&
      !name.startsWith('THIRD-PARTY'),
  );
  return Object.fromEntries(beside.map((name) => [name, join(dist, name)]));
}

/** Copies the native modules into `folder`, by the names of src/standalone.ts. A package installs the same bytes as files. */
function nativeModules(folder) {
  const found = { 'keyring.node': keyringBinary(), 'fs-native-extensions.node': lockBinary() };
  return Object.fromEntries(
    Object.entries(found).map(([name, from]) => {
      const path = join(folder, name);
      copyFileSync(from, path);
      if (process.platform === 'linux') strip(path);
      return [name, path];
    }),
  );
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
  const { warn } = console;
  // postject warns about each note of Node's binary, which it keeps as it is.
  console.warn = (text, ...more) =>
    /Can't find string offset for section name '\.note/.test(text) || warn(text, ...more);
  await inject(path, 'NODE_SEA_BLOB', blob, { sentinelFuse: fuse, ...segment }).finally(() => {
    console.warn = warn;
  });
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

/** SHA256SUMS of all files of a folder. */
export function writeChecksums(folder) {
  const names = readdirSync(folder).filter((name) => name !== 'SHA256SUMS');
  const lines = names.map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({ options: { node: { type: 'string' } } });
  const started = performance.now();
  const program = await buildStandalone(values);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${program}: ${(statSync(program).size / 1e6).toFixed(1)} MB, ${seconds} s`);
  console.log(execFileSync(program, ['--version'], { encoding: 'utf8' }).trim());
}
