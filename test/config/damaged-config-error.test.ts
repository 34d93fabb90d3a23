import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { configPath, DamagedConfigError, readConfig } from '../../src/config/config-file.ts';
import { damagedConfig } from '../../src/config/damaged-config-error.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';

/** The error a user sees for this config.json, without the folder. */
async function reported(text: string): Promise<{ readonly message: string; readonly at: string }> {
  const host = testHost();
  host.writeConfig(text);
  try {
    readConfig(host.folders.config);
  } catch (thrown) {
    if (!(thrown instanceof DamagedConfigError)) throw thrown;
    const error = await damagedConfig(thrown);
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2 });
    const path = configPath(host.folders.config);
    expect(error.detail).toMatch(new RegExp(`^${path}:`));
    return { message: error.message, at: error.detail?.slice(path.length + 1) ?? '' };
  }
  throw new Error('it was read');
}

describe('a damaged config.json', () => {
  it.each([
    ['{\n  "current": "work"\n  "profiles": {}\n}', '3:3'],
    ['\uFEFF{\n  "current": "work"\n  "profiles": {}\n}', '3:3'],
    ['\uFEFF{"current": 7}', '1:13'],
    ['{"profiles": {}', '1:16'],
    ['not json', '1:1'],
    ['{\n  // a comment\n  "profiles": {}\n}', '2:3'],
    ['{"profiles": {},}', '1:17'],
    ['[]', '1:1'],
    ['null', '1:1'],
    ['{"current": 7}', '1:13'],
    ['{\n"profiles": [\n]}', '2:13'],
    ['{"profiles": {"work": 7}}', '1:23'],
    ['{"profiles": {\n  "Work": {}}}', '2:11'],
    ['{"profiles": {"work": {\n  "auth_url": "http://cloud.example"}}}', '2:15'],
    ['{"profiles": {"work": {\n\n   "pkce": "maybe"}}}', '3:12'],
    ['{"profiles": {"work": {"scope": 7}}}', '1:33'],
    ['{"profiles": {"work": {"callback_urls": ["http://127.0.0.1:1/x", 7]}}}', '1:41'],
  ])('%j is reported with line and column', async (text, at) => {
    const damage = await reported(text);
    expect(damage.at).toBe(at);
    expectGolden('config', damage.message);
  });

  it('is not quoted: a secret may stand in it', async () => {
    expect(JSON.stringify(await reported('{"profiles": {"work": {"auth_url": "https://u:hunter2@x"}}}'))).not.toContain(
      'hunter2',
    );
  });
});

/** What can be in the place of config.json, and how it comes there. */
const strangers: Readonly<Record<string, (path: string) => void | Promise<void>>> = {
  'a file of NUL bytes': (path) => writeFileSync(path, Buffer.alloc(500)),
  'a file that ends in NUL bytes': (path) => writeFileSync(path, `{"current": "work"}${'\0'.repeat(100)}`),
  'a named pipe': (path) => void execFileSync('mkfifo', [path]),
  'a link to a named pipe': (path) => {
    execFileSync('mkfifo', [`${path}.pipe`]);
    symlinkSync('config.json.pipe', path);
  },
  'a folder': (path) => mkdirSync(path),
  'a link to a device without an end': (path) => symlinkSync('/dev/zero', path),
  'a link to a terminal': (path) => symlinkSync('/dev/tty', path),
  'a socket': async (path) => {
    const server = createServer().listen(path);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  },
  'a link to itself': (path) => symlinkSync('config.json', path),
  'a link to nothing': (path) => symlinkSync('nowhere/config.json', path),
  'a file of 100 MB': (path) => {
    writeFileSync(path, '{}');
    truncateSync(path, 100_000_000);
  },
  'a file in UTF-16': (path) => writeFileSync(path, Buffer.from('\uFEFF{"current": "work"}', 'utf16le')),
  'a file in UTF-16 without a mark': (path) => writeFileSync(path, Buffer.from('{"current": "work"}', 'utf16le')),
  'a file in Latin-1': (path) => writeFileSync(path, Buffer.from('{"current": "caf\u00e9"}', 'latin1')),
};

describe.skipIf(process.platform === 'win32')('in the place of config.json', () => {
  /** The folder has characters that a shell would change. */
  const newPath = () => {
    const folder = `${testHost().folders.config} of $USER's`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return configPath(folder);
  };
  const damageOf = (path: string): DamagedConfigError => {
    try {
      readConfig(dirname(path));
    } catch (thrown) {
      if (thrown instanceof DamagedConfigError) return thrown;
      throw thrown;
    }
    throw new Error('it was read');
  };

  it.each(['', '\n', ' \t\r\n ', '\uFEFF', '\uFEFF\n'])('an empty file (%j) is an empty configuration', (text) => {
    const path = newPath();
    writeFileSync(path, text);
    expect(readConfig(dirname(path))).toMatchObject({ current: undefined, raw: {} });
  });

  it.each(Object.entries(strangers))('%s is named, with the command that moves it away', async (_name, make) => {
    const path = newPath();
    await make(path);
    // An earlier one that was moved away is kept.
    writeFileSync(`${path}.damaged`, 'earlier');
    const error = await damagedConfig(damageOf(path));
    expect(error).toMatchObject({ code: 'config_invalid', exitCode: 2, detail: path });
    expectGolden('config', error.message);
    const command = /`(.*)`$/.exec(error.hint ?? '')?.[1] ?? '';
    const before = lstatSync(path).ino;
    execFileSync('sh', ['-c', command]);
    expect(lstatSync(`${path}.damaged-2`).ino).toBe(before);
    expect(readFileSync(`${path}.damaged`, 'utf8')).toBe('earlier');
    expect(readConfig(dirname(path)).raw).toEqual({});
  });

  it('a file that must not be read is named, and moved away too', async () => {
    const path = newPath();
    writeFileSync(path, '{}');
    chmodSync(path, 0);
    for (const folder of [dirname(path), dirname(dirname(path))]) chmodSync(folder, 0o755);
    const error = await damagedConfig(withoutRoot(() => damageOf(path)));
    execFileSync('sh', ['-c', /`(.*)`$/.exec(error.hint ?? '')?.[1] ?? '']);
    expect(readConfig(dirname(path)).raw).toEqual({});
  });
});

/** Root may read every file, so another user reads. */
function withoutRoot<T>(read: () => T): T {
  if (process.geteuid?.() !== 0) return read();
  process.seteuid?.(65_534);
  try {
    return read();
  } finally {
    process.seteuid?.(0);
  }
}
