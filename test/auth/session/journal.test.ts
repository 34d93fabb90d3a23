import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type BegunEntry,
  beginEntry,
  createFileJournal,
  type EntryHead,
  encodeHead,
  encrypt,
  findNewest,
  type Journal,
  type Journaled,
  type Newest,
  openEntries,
  openEntry,
  proofOf,
  type RecordCodec,
} from '../../../src/auth/session/journal.ts';
import { journalPath } from '../../../src/auth/session/paths.ts';
import { storedProvider } from '../../../src/auth/session/provider.ts';
import { loadSession } from '../../../src/auth/session/stored.ts';
import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../../../src/base/json.ts';
import { Secret } from '../../../src/base/secret.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { expectAlive, machineWith, singleUseServer, unexpired } from './session-fixture.ts';

const key = new Secret(randomBytes(32).toString('base64url'));
const body = '{"access_token":"hunter2","token_type":"bearer"}\n';
const room = 256;
const head: EntryHead = { sid: '0123456789abcdef', gen: 2, proof: 'cafe0123', sentAt: 1_767_225_600, room };
const line = encodeHead(head);
const overhead = 12 + 16;

function file(text = body, size = room): Buffer {
  return Buffer.concat([Buffer.from(line), encrypt(line, key, text, size, randomBytes(12))]);
}

describe('a sealed answer', () => {
  it('opens by the seal of its session and is the body to the byte', () => {
    const opened = openEntry(file(), key);
    expect(opened).toMatchObject({ kind: 'opens', head });
    expect(opened.kind === 'opens' && opened.body.reveal()).toBe(body);
  });

  it('fills its room exactly, so that its length says nothing', () => {
    for (const text of ['', 'x', body]) expect(encrypt(line, key, text, room, randomBytes(12))).toHaveLength(room);
  });

  it.each([room - overhead, room - overhead + 1, 10_000])('of %d bytes is whole, within its room or beyond', (size) => {
    const opened = openEntry(file('é'.repeat(size / 2)), key);
    expect(opened.kind === 'opens' && opened.body.reveal()).toBe('é'.repeat(size / 2));
  });

  it('has no secret in line 1, and none that can be read behind it', () => {
    expect(line).toBe(
      `{"op":"refresh","sid":"0123456789abcdef","gen":2,"proof":"cafe0123","t":1767225600,"room":256}\n`,
    );
    expect(file().toString('latin1')).not.toContain('hunter2');
    expect(proofOf(new Secret('hunter2'))).toMatch(/^[0-9a-f]{8}$/);
    expect(JSON.stringify(openEntry(file(), key))).not.toContain('hunter2');
  });

  it('does not open by another seal, nor by one that is no key', () => {
    const other = new Secret(randomBytes(32).toString('base64url'));
    expect(openEntry(file(), other)).toMatchObject({ kind: 'torn', head });
    expect(openEntry(file(), new Secret('short'))).toMatchObject({ kind: 'torn', head });
  });

  it('is made and opened with whatever key the record has', () => {
    const short = new Secret('short');
    const bytes = Buffer.concat([Buffer.from(line), encrypt(line, short, body, room, randomBytes(12))]);
    expect(openEntry(bytes, short)).toMatchObject({ kind: 'opens' });
  });

  it('does not open behind another line 1', () => {
    const text = file().subarray(line.length);
    const otherProcess = line.replace('"t":1', '"t":2');
    expect(openEntry(Buffer.concat([Buffer.from(otherProcess), text]), key).kind).toBe('torn');
    for (const changed of [
      { gen: 3 },
      { sid: 'fedcba9876543210' },
      { sentAt: 1 },
      { room: 255 },
      { proof: '00000000' },
    ]) {
      const other = encodeHead({ ...head, ...changed });
      expect(openEntry(Buffer.concat([Buffer.from(other), text]), key).kind).toBe('torn');
    }
  });
});

describe('a file that is not whole', () => {
  const whole = file();

  it('torn at any byte of the write is never opened, whatever was there before', () => {
    for (let length = line.length; length < whole.length; length++) {
      const rest = Buffer.alloc(whole.length - length);
      const torn = Buffer.concat([whole.subarray(0, length), rest]);
      // The last bytes may happen to be zeros: then nothing is missing.
      if (!torn.equals(whole)) expect(openEntry(torn, key).kind).toBe(length === line.length ? 'zeros' : 'torn');
    }
  });

  it('cut off at any byte is never opened', () => {
    for (let length = 0; length < whole.length; length++) {
      expect(openEntry(whole.subarray(0, length), key).kind).not.toBe('opens');
    }
  });

  it('with any bit flipped is never opened', () => {
    for (let at = 0; at < whole.length; at++) {
      for (const bit of [1, 128]) {
        const flipped = Buffer.from(whole);
        flipped[at] = (flipped[at] ?? 0) ^ bit;
        expect(openEntry(flipped, key).kind).toBe('torn');
      }
    }
  });

  it.each([
    ['nothing', ''],
    ['no line', '{"op":"refresh"'],
    ['a line of something else', line.replace('refresh', 'login')],
    ['a line that is no object', 'null\n'],
    ['a line that lacks a part', '{"op":"refresh","sid":"0123456789abcdef","gen":2}\n'],
    ['no JSON', 'hello\n'],
  ])('of %s is torn', (_what, text) => {
    expect(openEntry(Buffer.from(text), key)).toMatchObject({ kind: 'torn', head: undefined });
  });

  it('of zeros is one to which no answer came', () => {
    expect(openEntry(Buffer.concat([Buffer.from(line), Buffer.alloc(room)]), key)).toMatchObject({
      kind: 'zeros',
      head,
    });
  });
});

interface TestRecord extends Journaled {
  readonly gen: number;
  readonly text: string;
}

const codec: RecordCodec<TestRecord> = {
  encode: ({ sid, gen, refreshToken, text }) =>
    new Secret(JSON.stringify({ sid, gen, rt: refreshToken?.reveal(), text })),
  decode: (encoded) => {
    const json = tryParseJson(encoded);
    if (!json.ok || !isJsonRecord(json.value)) return undefined;
    const { value } = json;
    const [sid, rt, text] = ['sid', 'rt', 'text'].map((name) => readStringField(value, name));
    const gen = readNumberField(value, 'gen');
    if (sid === undefined || text === undefined || gen === undefined) return undefined;
    return { sid, gen, text, journalKey: key, ...(rt === undefined ? {} : { refreshToken: new Secret(rt) }) };
  },
};

const recordOf = (gen: number, text = ''): TestRecord => ({
  sid: '0123456789abcdef',
  gen,
  journalKey: key,
  refreshToken: new Secret(`rt-${gen}`),
  text,
});
const stored = recordOf(1);

function journalInFolder(): { readonly path: string; readonly journal: Journal } {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const path = join(folders.state, 'sessions', 'default.0123456789abcdef.wal');
  return { path, journal: createFileJournal(path) };
}

const begin = (journal: Journal, newest: Newest<TestRecord>): Promise<BegunEntry<TestRecord>> =>
  beginEntry(journal, newest, codec, { sentAt: 1_767_225_600, random: randomBytes });

const newestIn = async (journal: Journal, record = stored): Promise<Newest<TestRecord>> =>
  findNewest(await journal.read(), record, codec);

/** The journal of a refresh whose record no store has taken. */
async function withOnlyCopy(
  text = '',
): Promise<ReturnType<typeof journalInFolder> & { readonly newest: Newest<TestRecord> }> {
  const { path, journal } = journalInFolder();
  const entry = await begin(journal, await newestIn(journal));
  expect(await entry.keep(recordOf(2, text))).toBe(true);
  entry.close();
  return { path, journal, newest: await newestIn(journal) };
}

const damage = (path: string, at: number): void => {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
};

describe('a journal', () => {
  it('in a file is for the user alone, and nothing remains of it', async () => {
    const { path, journal } = journalInFolder();
    expect(await journal.read()).toBeUndefined();
    const entry = await begin(journal, await newestIn(journal));
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await newestIn(journal)).toMatchObject({ record: stored, inDoubt: true, isObsolete: false });
    await entry.remove();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it('is replaced as a whole: what a killed process had only begun to write is removed', async () => {
    const { path, journal } = await withOnlyCopy();
    for (const pid of [1, process.pid]) writeFileSync(`${path}.${pid}.next`, 'half', { mode: 0o600 });
    const entry = await begin(journal, await newestIn(journal));
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
    entry.close();
    writeFileSync(`${path}.1.next`, 'half', { mode: 0o600 });
    await journal.remove();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it('is begun for no record without a refresh token', async () => {
    const { journal } = journalInFolder();
    const { refreshToken: _none, ...record } = stored;
    await expect(begin(journal, { record, inDoubt: false, isObsolete: false })).rejects.toThrow(/refresh/);
    expect(await journal.read()).toBeUndefined();
  });

  it('of a refresh that was not sent is removed', async () => {
    const { journal } = journalInFolder();
    await (await begin(journal, await newestIn(journal))).discard();
    expect(await journal.read()).toBeUndefined();
  });

  it('is obsolete when the store has its record, and when it belongs to another session', async () => {
    const { journal } = await withOnlyCopy();
    for (const record of [recordOf(2), recordOf(3), { ...stored, sid: 'fedcba9876543210' }])
      expect(await newestIn(journal, record)).toEqual({ record, inDoubt: false, isObsolete: true });
  });

  it('without a refresh token in the store has nothing in doubt', async () => {
    const { journal } = journalInFolder();
    (await begin(journal, await newestIn(journal))).close();
    const { refreshToken: _none, ...bare } = stored;
    expect(await newestIn(journal, bare)).toMatchObject({ inDoubt: false, isObsolete: true });
  });
});

describe('a second entry', () => {
  it('follows the only copy, which a discarded refresh leaves to the byte', async () => {
    const { journal, newest } = await withOnlyCopy();
    expect(newest).toMatchObject({ record: { gen: 2 }, inDoubt: false, isObsolete: false });
    const only = Buffer.from((await journal.read())!);
    for (let round = 0; round < 3; round++) {
      const entry = await begin(journal, await newestIn(journal));
      expect(entry.hasRival()).toBe(false);
      expect(await newestIn(journal)).toMatchObject({ record: { gen: 2 }, inDoubt: true });
      await entry.discard();
      expect(Buffer.from((await journal.read())!).equals(only)).toBe(true);
    }
    expect(await newestIn(journal)).toMatchObject({ record: { gen: 2 }, inDoubt: false });
  });

  it('is the newest when it is written, and the only one that the next refresh keeps', async () => {
    const { journal } = await withOnlyCopy();
    const lengths: number[] = [];
    for (let gen = 3; gen < 7; gen++) {
      const entry = await begin(journal, await newestIn(journal));
      expect(await entry.keep(recordOf(gen))).toBe(true);
      entry.close();
      expect(await newestIn(journal)).toMatchObject({ record: { gen }, inDoubt: false });
      lengths.push((await journal.read())?.length ?? 0);
    }
    expect(new Set(lengths).size).toBe(1);
    expect(openEntries(Buffer.from((await journal.read())!), key)).toHaveLength(2);
  });

  it('that is torn at any byte leaves the only copy, in doubt', async () => {
    const { journal, path } = await withOnlyCopy();
    const start = readFileSync(path).length;
    const entry = await begin(journal, await newestIn(journal));
    await entry.keep(recordOf(3));
    entry.close();
    const whole = readFileSync(path);
    const bodyStart = whole.indexOf('\n', start) + 1;
    const lengths = [
      start + 1,
      start + 10,
      start + 20,
      bodyStart - 1,
      bodyStart,
      bodyStart + 1,
      bodyStart + 28,
      bodyStart + 99,
      whole.length - 1,
    ];
    for (const length of lengths) {
      for (const rest of [Buffer.alloc(0), Buffer.alloc(whole.length - length, 7)]) {
        writeFileSync(path, Buffer.concat([whole.subarray(0, length), rest]));
        expect(await newestIn(journal), `${length}`).toMatchObject({
          record: { gen: 2 },
          inDoubt: true,
          isObsolete: false,
        });
      }
    }
  });

  it.each(['', 'x'.repeat(20_000)])('whose first line is damaged hides no entry before it', async (text) => {
    const { journal, path } = await withOnlyCopy(text);
    const only = readFileSync(path);
    const entry = await begin(journal, await newestIn(journal));
    await entry.keep(recordOf(3));
    entry.close();
    const isWithinRoom = text === '';
    // Where a record was longer than its room, only the start of the next line shows its end.
    const destroyed = [...(isWithinRoom ? [0, 1, 15] : []), 16, 40];
    // A session id or a proof with another digit is still a first line, of a refresh that is not known.
    for (const at of [...destroyed, 30, 60]) {
      const whole = readFileSync(path);
      damage(path, only.length + at);
      const newest = await newestIn(journal);
      expect(newest, `${at}`).toMatchObject({ record: { gen: 2 }, inDoubt: destroyed.includes(at) });
      expect(Buffer.from(newest.onlyCopy!).equals(only)).toBe(true);
      writeFileSync(path, whole);
    }
  });

  it('is in doubt although the entry before it is damaged as well', async () => {
    const { journal, path } = await withOnlyCopy();
    (await begin(journal, await newestIn(journal))).close();
    damage(path, 300);
    expect(await newestIn(journal)).toMatchObject({ record: { gen: 1 }, inDoubt: true, isObsolete: false });
  });

  it('is read although the first line of the entry before it is damaged', async () => {
    const { journal, path } = await withOnlyCopy();
    const entry = await begin(journal, await newestIn(journal));
    await entry.keep(recordOf(3));
    entry.close();
    damage(path, 3);
    expect(await newestIn(journal)).toMatchObject({ record: { gen: 3 }, inDoubt: false });
  });

  it('follows a record that was longer than its room, and either of them may be', async () => {
    const { journal } = await withOnlyCopy('x'.repeat(20_000));
    expect((await newestIn(journal)).record.text).toHaveLength(20_000);
    const unsent = await begin(journal, await newestIn(journal));
    expect(await newestIn(journal)).toMatchObject({ record: { gen: 2 }, inDoubt: true });
    await unsent.discard();
    expect((await newestIn(journal)).record.text).toHaveLength(20_000);
    const entry = await begin(journal, await newestIn(journal));
    await entry.keep(recordOf(3, 'y'.repeat(90_000)));
    entry.close();
    expect((await newestIn(journal)).record.text).toHaveLength(90_000);
    (await begin(journal, await newestIn(journal))).close();
    expect(await newestIn(journal)).toMatchObject({ record: { gen: 3 }, inDoubt: true });
  });
});

describe('two processes that share no lock', () => {
  it('see each other, and neither removes the entry of the other', async () => {
    const { journal } = journalInFolder();
    const first = await begin(journal, await newestIn(journal));
    const second = await begin(journal, { record: stored, inDoubt: false, isObsolete: false });
    expect([first.hasRival(), second.hasRival()]).toEqual([true, true]);
    // Nobody can read what is written into the entry that was replaced.
    expect([await first.keep(recordOf(2)), await second.keep(recordOf(2))]).toEqual([false, true]);
    await first.remove();
    expect(await newestIn(journal)).toMatchObject({ record: { gen: 2 } });
    await second.discard();
    expect(await journal.read()).toBeUndefined();
  });

  it('do not remove the journal of a later refresh', async () => {
    const { journal } = journalInFolder();
    const first = await begin(journal, await newestIn(journal));
    await journal.remove();
    const later = await begin(journal, await newestIn(journal, recordOf(2)));
    await later.keep(recordOf(3));
    await first.remove();
    await first.discard();
    expect(await newestIn(journal, recordOf(2))).toMatchObject({ record: { gen: 3 } });
    later.close();
  });

  it('are not suspected after an entry of the same session that has a known result', async () => {
    const { journal } = await withOnlyCopy();
    const entry = await begin(journal, await newestIn(journal));
    expect(entry.hasRival()).toBe(false);
    entry.close();
    const next = await begin(journal, await newestIn(journal));
    expect(next.hasRival()).toBe(true);
    next.close();
  });
});

const strange: readonly [string, (path: string) => void][] = [
  ['a FIFO', (path) => void execFileSync('mkfifo', ['-m', '600', path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a symbolic link', (path) => linkToOther(path)],
  ['a symbolic link to nothing', (path) => symlinkSync(`${path}.nothing`, path)],
  ['a file of mode 0644', (path) => writeWithMode(path, 0o644)],
  ['a file that others may write', (path) => writeWithMode(path, 0o602)],
];

function linkToOther(path: string): void {
  writeFileSync(`${path}.other`, 'theirs', { mode: 0o600 });
  symlinkSync(`${path}.other`, path);
}

function writeWithMode(path: string, mode: number): void {
  writeFileSync(path, '');
  chmodSync(path, mode);
}

describe.skipIf(process.platform === 'win32')('at the path of a journal', () => {
  it.each(strange)('%s is neither read nor replaced', async (_what, create) => {
    const { path, journal } = journalInFolder();
    mkdirSync(dirname(path), { recursive: true });
    create(path);
    const before = readdirSync(dirname(path));
    await expect(journal.read()).rejects.toThrow(path);
    await expect(begin(journal, { record: stored, inDoubt: false, isObsolete: false })).rejects.toThrow(path);
    expect(readdirSync(dirname(path))).toEqual(before);
    rmSync(path, { recursive: true, force: true });
  });

  it.each(strange.flatMap(([what, create]) => (['keychain', 'file'] as const).map((kind) => ({ what, kind, create }))))(
    '$what ($kind) leaves the session in doubt, and no refresh is sent',
    async ({ kind, create }) => {
      const server = await singleUseServer();
      const machine = await machineWith(server, kind, unexpired());
      const path = journalPath(machine.place, machine.stored()?.sid ?? '');
      mkdirSync(dirname(path), { recursive: true });
      create(path);
      expect(await loadSession(machine.store, machine.run.binding)).toMatchObject({
        kind: 'found',
        inDoubt: true,
      });
      expect((await storedProvider(machine.sibling()).bearer()).reveal()).toBe('at-1');
      await expect(storedProvider(machine.sibling()).forceRefresh()).rejects.toMatchObject({
        code: 'keychain_unavailable',
        detail: expect.stringContaining(path),
      });
      expect(server.seen).toEqual(['/v2/actions']);
      expectAlive(machine.stored()!, server);
      rmSync(path, { recursive: true });
      expectAlive(await storedProvider(machine.sibling()).forceRefresh(), server);
    },
  );
});
