import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startServers } from '../../src/sandbox/sandbox.ts';
import { bin, node, run } from '../fixtures/cli.ts';
import { type Environment, environment, type Folders, makeFolders } from '../fixtures/folders.ts';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';

const env = { CLOUDCTL_CODE_CACHE: 'on' };

/** The folders of a logged-in user. */
async function logIn(): Promise<Folders> {
  const [host, sandbox] = [testHost(), await startServers()];
  onTestFinished(() => sandbox.close());
  await seedSession(host, sandbox);
  return host.place;
}

/** Folders whose cache has what `config list` needs. */
function filledFolders(): Folders {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  mkdirSync(folders.state, { mode: 0o700 });
  configList(folders);
  expect(cacheFiles(folders).length).toBeGreaterThan(2);
  return folders;
}

interface Output {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `config list`, which needs no server, under another program if one is named. */
function configList(folders: Folders, under: readonly string[] = [], more: Environment = {}): Output {
  const [program = node, ...words] = [...under, node, bin, 'config', 'list', '-o', 'json'];
  const { status, signal, stdout, stderr } = spawnSync(program, words, {
    env: environment(folders, { ...env, ...more }),
    encoding: 'utf8',
  });
  return { status, signal, stdout, stderr };
}

function cacheFolder(folders: Folders): string {
  return join(folders.state, 'code-cache');
}

function cacheFiles(folders: Folders): readonly string[] {
  return readdirSync(cacheFolder(folders)).map((name) => join(cacheFolder(folders), name));
}

/** Numbers below `end` that are the same in every run (mulberry32). */
function randomNumbers(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
}

test('the functions that a command needs are kept once, and later ones added', async () => {
  const folders = await logIn();
  const first = configList(folders);
  const [files, contents] = [cacheFiles(folders), cacheFiles(folders).map((path) => readFileSync(path))];
  expect(files.length).toBeGreaterThan(2);
  expect(configList(folders)).toEqual(first);
  expect(cacheFiles(folders).map((path) => readFileSync(path))).toEqual(contents);
  const list = await run(['droplets', 'list', '-o', 'json'], { folders, env });
  expect(list.code).toBe(0);
  expect(cacheFiles(folders).length).toBeGreaterThan(files.length);
  const written = cacheFiles(folders).map((path) => readFileSync(path));
  expect((await run(['droplets', 'list', '-o', 'json'], { folders, env })).stdout).toBe(list.stdout);
  // V8 would reject data that was written with the flags that the program sets for requests.
  expect(cacheFiles(folders).map((path) => readFileSync(path))).toEqual(written);
});

test('no file contains the token of the session', async () => {
  const folders = await logIn();
  await run(['droplets', 'list'], { folders, env });
  const { stdout } = await run(['auth', 'token'], { folders, env });
  expect(stdout.trim().length).toBeGreaterThan(20);
  for (const path of cacheFiles(folders)) {
    const bytes = readFileSync(path);
    expect(bytes.includes(stdout.trim())).toBe(false);
    expect(bytes.includes(Buffer.from(stdout.trim(), 'utf16le'))).toBe(false);
  }
});

test('with 200 changed bits, one after the other, the output is the same', () => {
  const folders = filledFolders();
  const expected = configList(folders);
  expect(expected).toMatchObject({ status: 0, signal: null, stderr: '' });
  const next = randomNumbers(25);
  for (let round = 0; round < 200; round++) {
    const files = cacheFiles(folders);
    const path = files[next(files.length)] ?? '';
    const bytes = readFileSync(path);
    const at = next(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << next(8));
    writeFileSync(path, bytes);
    expect({ path, at, ...configList(folders) }).toEqual({ path, at, ...expected });
  }
});

test.each(['empty', 'cut', 'folder'])('with %s files the output is the same', (kind) => {
  const folders = filledFolders();
  const expected = configList(folders);
  for (const path of cacheFiles(folders)) {
    if (kind === 'empty') truncateSync(path, 0);
    else if (kind === 'cut') truncateSync(path, readFileSync(path).length >> 1);
    else {
      rmSync(path);
      mkdirSync(path);
    }
  }
  expect(configList(folders)).toEqual(expected);
});

const mount = (options: string) => ['unshare', '--mount', 'sh', '-c', `mount -t tmpfs ${options} "$0" && exec "$@"`];
const isMountAllowed = spawnSync('unshare', ['--mount', 'true']).status === 0 && process.geteuid?.() === 0;

test.skipIf(!isMountAllowed).each(['-o size=4k,mode=700 full', '-o ro,mode=700 readonly'])(
  'on a disk mounted with %s the output is the same',
  (options) => {
    const folders = filledFolders();
    const expected = configList(folders);
    expect(configList(folders, [...mount(options), folders.state])).toEqual(expected);
    expect(configList(folders, [...mount(options), cacheFolder(folders)])).toEqual(expected);
  },
);

test('without HOME the output is the same', () => {
  const folders = filledFolders();
  const expected = configList(folders);
  expect(configList(folders, [], { HOME: undefined, CLOUDCTL_STATE_DIR: undefined })).toEqual(expected);
});

test('a state folder that others can write has no cache', () => {
  const folders = filledFolders();
  rmSync(cacheFolder(folders), { recursive: true });
  chmodSync(folders.state, 0o777);
  configList(folders);
  chmodSync(folders.state, 0o700);
  expect(readdirSync(folders.state)).not.toContain('code-cache');
});
