import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeKeychainFixture, noKeyring, recordOf, setUp } from '../e2e/keychain/keychain-fixture.ts';
import { bin, node, type Ran, startProgram } from '../fixtures/cli.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';

/** The executable; the stage `standalone` builds it. */
const program = process.env.CLOUDCTL_TEST_STANDALONE ?? join(dirname(bin), '../dist-standalone/cloudctl');
const folder = dirname(program);

test('--version names the version, the build and Node', async () => {
  const { stdout } = await run(folders(), ['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+ \(standalone, build [0-9a-f]{16}, Node \d+\.\d+\.\d+, \w+-\w+\)\n$/);
  expect((await run(folders(), ['-V'])).stdout).toBe(stdout);
});

test('the checksum file has every other file, and the licences have those of Node', () => {
  const sums = new Map(
    readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
  expect([...sums.keys()].sort()).toEqual(readdirSync(folder).filter((name) => name !== 'SHA256SUMS'));
  const hash = createHash('sha256').update(readFileSync(program)).digest('hex');
  expect(sums.get(basename(program))).toBe(hash);
});

test.skipIf(process.platform !== 'linux')('the executable has no symbols for debuggers', () => {
  expect(sectionTypes(readFileSync(program))).not.toContain(symbolTable);
});

test('no file beside the executable is loaded, and no program on PATH is needed', async () => {
  const person = folders();
  const copy = join(person.work, 'cloudctl');
  linkOrCopy(program, copy);
  const trap = `require('node:fs').writeFileSync(${JSON.stringify(join(person.work, 'loaded'))}, '')`;
  for (const name of ['entry.cjs', 'main.cjs', 'keychain.cjs', 'node_modules/fs-native-extensions/index.js']) {
    mkdirSync(dirname(join(person.work, name)), { recursive: true });
    writeFileSync(join(person.work, name), trap);
  }
  writeFileSync(join(person.work, 'help.txt'), 'a page of somebody else');
  const start = (args: readonly string[]) =>
    startProgram(copy, args, { folders: person, env: { PATH: person.work } }).ended;
  expect((await start(['--help'])).stdout).not.toContain('somebody else');
  expect((await start(['config', 'list'])).code).toBe(0);
  await start(['doctor']);
  expect(nativeFiles(person)).toContain('fs-native-extensions.node');
  expect(existsSync(join(person.work, 'loaded'))).toBe(false);
});

test('doctor knows the executable when it was started by its name, and names another one', async () => {
  const person = folders();
  const [own, other] = [join(person.work, 'own'), join(person.work, 'other')];
  for (const path of [own, other]) mkdirSync(path);
  linkOrCopy(program, join(own, 'cloudctl'));
  writeFileSync(join(other, 'cloudctl'), '', { mode: 0o755 });
  const status = async (path: string) => {
    const env = { PATH: `${path}:${process.env.PATH}` };
    const words = ['-c', 'cloudctl doctor -o json --query "findings[?id==\'path\'].status"'];
    return (await startProgram('sh', words, { folders: person, env }).ended).json();
  };
  expect(await status(own)).toEqual(['ok']);
  expect(await status(`${own}:${other}`)).toEqual(['warning']);
});

describe('native modules', () => {
  test('are unpacked into a folder that only the user can read', async () => {
    const person = folders();
    await run(person, ['doctor']);
    expect(nativeFiles(person)).toContain('fs-native-extensions.node');
    expect(statSync(nativeFolder(person)).mode & 0o777).toBe(0o700);
    for (const name of nativeFiles(person)) expect(statSync(join(nativeFolder(person), name)).mode & 0o777).toBe(0o600);
    expect(lockKind(person)).toBe('fcntl\n');
  });

  test.each([
    ['other bytes', (path: string) => writeFileSync(path, 'not a library')],
    ['one changed byte', changeOneByte],
    ['a link', (path: string) => replaceByLink(path)],
  ])('that were replaced by %s are replaced before they are loaded', async (_, damage) => {
    const person = folders();
    await run(person, ['doctor']);
    const path = join(nativeFolder(person), 'fs-native-extensions.node');
    const before = readFileSync(path);
    damage(path);
    await run(person, ['doctor']);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(statSync(path).isFile()).toBe(true);
    expect(lockKind(person)).toBe('fcntl\n');
  });

  test.each([
    ['a link to a folder', (path: string) => replaceByLink(path)],
    ['a folder that others can read', (path: string) => chmodSync(path, 0o755)],
  ])('are not loaded from %s: locks are those of the program flock', async (_, change) => {
    const person = folders();
    await run(person, ['doctor']);
    const path = nativeFolder(person);
    change(path);
    for (const name of readdirSync(path)) writeFileSync(join(path, name), 'not a library');
    writeFileSync(lockFile(person), '');
    await run(person, ['doctor']);
    for (const name of readdirSync(path)) expect(readFileSync(join(path, name), 'utf8')).toBe('not a library');
    expect(lockKind(person)).toBe('flock\n');
  });
});

test('a source is checked', async () => {
  const { code, stdout } = await run(folders(), [
    'db',
    'preflight',
    '--source',
    'postgres://u@127.0.0.1:1/d',
    '--target-version',
    '17',
    '-o',
    'json',
  ]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'blocked' });
});

describe.skipIf(noKeyring)('with a real Secret Service', () => {
  test('a person logs in and creates a batch; the npm installation uses the same session', async () => {
    const fixture = await makeKeychainFixture();
    onTestFinished(() => fixture.close());
    expect((await setUp(fixture)).code).toBe(0);
    expect((await fixture.logIn(['--scope', 'read write'])).code).toBe(0);
    expect([...(await fixture.items()).keys()].some((account) => /^default#[^:]+$/.test(account))).toBe(true);
    const words = ['droplets', 'create', 'shop-{01..12}', '--size', 's-1vcpu-1gb', '--image', 'debian-12-x64'];
    const created = await fixture.run([...words, '--region', 'fra1', '-o', 'ndjson']);
    expect([created.code, created.stderr]).toEqual([0, expect.any(String)]);
    const listed = await fixture.run(['droplets', 'list', '-o', 'json']);
    expect(
      listed.json<{ readonly name: string }[]>().filter(({ name }) => /^shop-\d\d$/.test(name)).length,
    ).toBeGreaterThan(11);
    const token = await fixture.run(['auth', 'token']);
    const { folders: person, env } = fixture;
    const other = await startProgram(node, [bin, 'auth', 'token'], { folders: person, env }).ended;
    expect([other.code, other.stdout]).toEqual([0, token.stdout]);
    const refreshed = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        at % 2 === 0
          ? fixture.run(['auth', 'refresh'])
          : startProgram(node, [bin, 'auth', 'refresh'], { folders: person, env }).ended,
      ),
    );
    expect(refreshed.map(({ code }) => code)).toEqual(refreshed.map(() => 0));
    const [, item] = [...(await fixture.items())].find(([account]) => /^default#[^:]+$/.test(account)) ?? [];
    expect(recordOf(item).gen).toBeGreaterThan(1);
    expect((await fixture.run(['actions', 'list'])).code).toBe(0);
  });
});

function folders(): Folders {
  const person = makeFolders();
  onTestFinished(() => person.remove());
  return person;
}

function run(person: Folders, args: readonly string[]): Promise<Ran> {
  return startProgram(program, args, { folders: person }).ended;
}

/** SHT_SYMTAB of elf(5). */
const symbolTable = 2;

/** The types of the sections of a 64-bit ELF file: elf(5). */
function sectionTypes(elf: Buffer): readonly number[] {
  const [start, size, count] = [Number(elf.readBigUInt64LE(0x28)), elf.readUInt16LE(0x3a), elf.readUInt16LE(0x3c)];
  return Array.from({ length: count }, (_, at) => elf.readUInt32LE(start + at * size + 4));
}

function nativeFolder({ state }: Folders): string {
  const [name = 'no native folder', ...others] = readdirSync(state).filter((found) => found.startsWith('native-'));
  expect(others).toEqual([]);
  return join(state, name);
}

function nativeFiles(person: Folders): readonly string[] {
  return readdirSync(nativeFolder(person));
}

function lockFile({ state }: Folders): string {
  return join(state, 'sessions', 'default.lock');
}

function lockKind(person: Folders): string {
  return readFileSync(lockFile(person), 'utf8');
}

function changeOneByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[5000] = (bytes[5000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function replaceByLink(path: string): void {
  renameSync(path, `${path}.moved`);
  symlinkSync(`${path}.moved`, path);
}

/** A link, where both are on one disk, because the executable has 90 MB. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    spawnSync('cp', [from, to]);
  }
}
