import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type CodeCache, openCache } from '../../src/platform/v8-code-cache.ts';
import { writeCache } from '../../src/platform/write-v8-code-cache.ts';

interface Bundle {
  readonly state: string;
  readonly cacheFile: () => string;
  /** Loads the pack; `isCached` says whether its functions came from the cache. */
  readonly load: (env?: Record<string, string>) => { readonly result: unknown; readonly isCached: boolean };
  /** Loads the pack and keeps its functions. */
  readonly fill: (env?: Record<string, string>) => void;
  readonly setSource: (text: string) => void;
}

const source = 'exports.result = () => 1 + 1;';

/** A bundle of one pack, with a state folder of its own. */
function bundleInFolder(): Bundle {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-code-cache-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = join(folder, 'state');
  mkdirSync(state, { mode: 0o700 });
  const pack = join(folder, 'one.cjs');
  writeFileSync(pack, source);
  const open = (env: Record<string, string>): { readonly cache: CodeCache | undefined; readonly result: unknown } => {
    let load: (name: string) => unknown = () => createRequire(pack)(pack);
    const packs = {
      ...{ folder, digest: 'digest', require: createRequire(pack), moduleNames: () => ['m1'] },
      loadWith: (next: typeof load) => {
        load = next;
      },
    };
    const cache = openCache(packs, { CLOUDCTL_STATE_DIR: state, ...env });
    return { cache, result: load('one') };
  };
  return {
    state,
    cacheFile: () => join(state, 'code-cache', readdirSync(join(state, 'code-cache'))[0] ?? ''),
    load(env = {}) {
      const { cache, result } = open(env);
      return { result, isCached: cache !== undefined && cache.incompletePacks().length === 0 };
    },
    fill(env = {}) {
      const { cache } = open(env);
      if (cache !== undefined) writeCache(cache, ['m1']);
    },
    setSource: (text) => writeFileSync(pack, text),
  };
}

const loaded = { result: { result: expect.any(Function) } };

test('the second start uses what the first has compiled', () => {
  const bundle = bundleInFolder();
  expect(bundle.load()).toMatchObject({ ...loaded, isCached: false });
  bundle.fill();
  expect(bundle.load()).toMatchObject({ ...loaded, isCached: true });
});

test('a file with a changed byte anywhere is ignored', () => {
  const bundle = bundleInFolder();
  bundle.fill();
  const bytes = readFileSync(bundle.cacheFile());
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(bundle.cacheFile(), changed);
    expect([at, bundle.load().isCached]).toEqual([at, false]);
  }
});

test('a file that is cut, empty or longer is ignored', () => {
  const bundle = bundleInFolder();
  bundle.fill();
  const bytes = readFileSync(bundle.cacheFile());
  for (const content of [bytes.subarray(0, -1), bytes.subarray(0, 100), '', Buffer.concat([bytes, Buffer.from('x')])]) {
    writeFileSync(bundle.cacheFile(), content);
    expect(bundle.load()).toMatchObject({ ...loaded, isCached: false });
  }
});

test('a pack that was edited to the same length is compiled', () => {
  const bundle = bundleInFolder();
  bundle.fill();
  bundle.setSource(source.replace('1 + 1', '2 * 3'));
  const { result, isCached } = bundle.load();
  expect(isCached).toBe(false);
  expect(result).toMatchObject({ result: expect.any(Function) });
});

test('other options of node have files of their own', () => {
  const bundle = bundleInFolder();
  bundle.fill();
  expect(bundle.load({ NODE_OPTIONS: '--no-opt' }).isCached).toBe(false);
});

test.each([
  { env: { CLOUDCTL_CODE_CACHE: 'off' }, isCached: false },
  { env: { CLOUDCTL_CODE_CACHE: 'of' }, isCached: false },
  { env: { CI: 'true' }, isCached: false },
  { env: { CI: 'true', CLOUDCTL_CODE_CACHE: 'on' }, isCached: true },
  { env: { CI: 'false' }, isCached: true },
  { env: { CLOUDCTL_CODE_CACHE: '' }, isCached: true },
])('with $env the cache is used: $isCached', ({ env, isCached }) => {
  const bundle = bundleInFolder();
  bundle.fill();
  expect(bundle.load(env)).toMatchObject({ ...loaded, isCached });
});

test('a link, a folder or a pipe in place of the file is ignored', () => {
  const bundle = bundleInFolder();
  bundle.fill();
  const file = bundle.cacheFile();
  const real = join(bundle.state, 'real');
  writeFileSync(real, readFileSync(file), { mode: 0o600 });
  const places = [
    () => symlinkSync(real, file),
    () => mkdirSync(file),
    () => void execFileSync('mkfifo', ['-m', '600', file]),
  ];
  for (const place of places) {
    rmSync(file, { recursive: true });
    place();
    expect(bundle.load()).toMatchObject({ ...loaded, isCached: false });
  }
});

test.each([0o640, 0o604, 0o620])('a file with the mode %o is ignored', (mode) => {
  const bundle = bundleInFolder();
  bundle.fill();
  chmodSync(bundle.cacheFile(), mode);
  expect(bundle.load().isCached).toBe(false);
});

test.each(['state', 'state/code-cache'])('a folder %s that others can write is ignored', (name) => {
  const bundle = bundleInFolder();
  bundle.fill();
  chmodSync(join(bundle.state, '..', name), 0o770);
  expect(bundle.load().isCached).toBe(false);
});

test('a link in place of the folder is ignored', () => {
  const [bundle, other] = [bundleInFolder(), bundleInFolder()];
  other.fill();
  symlinkSync(join(other.state, 'code-cache'), join(bundle.state, 'code-cache'));
  bundle.fill();
  expect(readdirSync(join(other.state, 'code-cache'))).toHaveLength(1);
});

test('the folders of another user are ignored, and so are all where owners are unknown', () => {
  const bundle = bundleInFolder();
  bundle.fill();
  for (const user of [4321, undefined]) {
    vi.stubGlobal('process', Object.create(process, { geteuid: { value: user && (() => user) } }));
    expect(bundle.load()).toMatchObject({ ...loaded, isCached: false });
    vi.unstubAllGlobals();
  }
  expect(bundle.load().isCached).toBe(true);
});
