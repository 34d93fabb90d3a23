import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEvent, encodeEvent, type LedgerEvent } from '../../src/droplets/events.ts';
import {
  createLedgerAt,
  isResumable,
  lockPathOf,
  openFile,
  openLedger,
  readLedger,
  tryReadState,
} from '../../src/droplets/ledger.ts';
import { ensureFolder } from '../../src/platform/files.ts';
import type { Clock } from '../../src/platform/host.ts';
import { tryAcquire } from '../../src/platform/locks.ts';
import { batchOf, ledgerFor, testLedgerPath, testMachine } from './batch-fixtures.ts';

describe('batch ledger', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const events: readonly LedgerEvent[] = [
    { event: 'baseline', at, server_date: at, existing: { a: ['1', '2'] } },
    { event: 'sending', at, group: 1, server_date: at, names: ['a', 'b'] },
    { event: 'created', at, group: 1, rows: [{ name: 'a', id: '7', action_id: '8' }] },
    { event: 'created', at, group: 1, adopted: true, rows: [{ name: 'b', id: '9' }] },
    { event: 'sending', at, group: 2, names: ['c'] },
    { event: 'failed', at, group: 2, names: ['c'], error: 'no' },
    { event: 'sending', at, group: 3, names: ['d'] },
    { event: 'unknown', at, group: 3, names: ['d'], error: 'who knows', resend: true },
  ];
  const batch = batchOf(['a', 'b', 'c', 'd'], { if_exists: 'create' });
  const noWait: Clock = { now: Date.now, sleep: async () => {} };

  async function written() {
    const path = testLedgerPath();
    const ledger = await createLedgerAt(path, batch, testMachine);
    for (const event of events) await ledger.commit(event);
    await ledger.close();
    return { path, rows: [...ledger.state.rows()] };
  }

  describe('a ledger', () => {
    it('is one JSON line for each event, for its owner alone', async () => {
      const { path } = await written();
      expect(readFileSync(path, 'utf8')).toBe([batch, ...events].map(encodeEvent).join(''));
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });

    it('opened again tells the same of every name', async () => {
      const { path, rows } = await written();
      const again = await openLedger(path, testMachine);
      expect([...again.state.rows()]).toEqual(rows);
      expect(again.state.uncertainGroups()).toMatchObject([{ group: 3, names: ['d'], resend: true }]);
      await again.close();
    });

    it('of a run with --batch-id that was killed before its baseline is that of the run before', async () => {
      const shared = batchOf(['a', 'b'], { content_hash: '0123456789ab' });
      const path = testLedgerPath();
      const before = await createLedgerAt(path, shared, testMachine);
      await before.commit({ event: 'baseline', at, existing: {} });
      await before.commit({ event: 'created', at, group: 1, rows: [{ name: 'a', id: '7' }] });
      await before.commit({ event: 'sending', at, group: 2, names: ['b'] });
      await before.close();
      // As `replaceLedger` leaves the files when its process is killed.
      renameSync(path, `${path}.previous`);
      writeFileSync(path, encodeEvent(shared));
      const again = await openLedger(path, testMachine);
      expect([...again.state.rows()]).toMatchObject([
        { name: 'a', id: '7' },
        { name: 'b', status: 'unknown' },
      ]);
      await again.close();
      expect(existsSync(`${path}.previous`)).toBe(false);
    });

    it('has no place in a folder that cannot be made, which is said as it is', async () => {
      const path = testLedgerPath();
      rmSync(dirname(dirname(path)), { recursive: true, force: true });
      writeFileSync(dirname(dirname(path)), '');
      await expect(createLedgerAt(path, batch, testMachine)).rejects.toMatchObject({
        code: 'storage',
        message: expect.stringMatching(/ENOTDIR/),
        hint: expect.stringContaining('CLOUDCTL_STATE_DIR'),
      });
    });

    it('is a file: a folder is none, and gets no lock', async () => {
      const { path } = await written();
      const folder = dirname(path);
      await expect(openLedger(folder, testMachine)).rejects.toMatchObject({
        code: 'usage',
        detail: folder,
      });
      expect(existsSync(`${folder}.lock`)).toBe(false);
    });

    it('named by a path from here is told by one from the root', async () => {
      const { path } = await written();
      const ledger = await openLedger(relative('.', path), testMachine);
      expect(ledger.path).toBe(path);
      await ledger.close();
    });

    it('is held by one process at a time', async () => {
      const path = testLedgerPath();
      const ledger = await createLedgerAt(path, batch, testMachine);
      await expect(openLedger(path, { ...testMachine, clock: noWait })).rejects.toMatchObject({
        code: 'busy',
        exitCode: 1,
      });
      await ledger.close();
      await (await openLedger(path, testMachine)).close();
    });

    it('is the same one under every name that a link gives it', async () => {
      const path = testLedgerPath();
      const ledger = await createLedgerAt(path, batch, testMachine);
      const link = `${path}.link`;
      symlinkSync(path, link);
      await expect(openLedger(link, { ...testMachine, clock: noWait })).rejects.toMatchObject({ code: 'busy' });
      await ledger.close();
      const again = await openLedger(link, testMachine);
      expect(again.path).toBe(link);
      await expect(openLedger(path, { ...testMachine, clock: noWait })).rejects.toMatchObject({ code: 'busy' });
      await again.close();
    });

    it('torn at any byte of its end is the ledger without what was torn', async () => {
      const { path } = await written();
      const whole = readFileSync(path);
      const first = whole.indexOf('\n') + 1;
      for (let length = first; length <= whole.length; length += 7) {
        writeFileSync(path, whole.subarray(0, length));
        const ledger = await openLedger(path, testMachine);
        await ledger.close();
        const kept = whole.subarray(0, whole.lastIndexOf('\n', length - 1) + 1);
        expect(readFileSync(path).equals(kept)).toBe(true);
      }
    });

    it('with zeros at its end, as after a loss of power, is the ledger without them', async () => {
      const { path } = await written();
      const whole = readFileSync(path, 'utf8');
      appendFileSync(path, Buffer.alloc(100));
      await (await openLedger(path, testMachine)).close();
      expect(readFileSync(path, 'utf8')).toBe(whole);
    });

    it.each([
      ['no JSON', '{"event":"sen'],
      ['an event nobody knows', '{"event":"paused","at":"x","group":1,"names":[]}'],
      ['a second beginning', encodeEvent(batch).trimEnd()],
      ['an empty line', ''],
    ])('with %s in its middle is an error with its line, and is left as it is', async (_what, line) => {
      const { path } = await written();
      const lines = readFileSync(path, 'utf8').split('\n');
      lines[3] = line;
      writeFileSync(path, lines.join('\n'));
      await expect(openLedger(path, testMachine)).rejects.toMatchObject({
        code: 'config_invalid',
        detail: `${path}:4`,
      });
      expect(readFileSync(path, 'utf8')).toBe(lines.join('\n'));
    });

    it.each([
      ['', ''],
      ['nothing but a torn line', '{"event":"bat'],
    ])('%j is no ledger', async (_what, text) => {
      const path = testLedgerPath();
      await (await createLedgerAt(path, batch, testMachine)).close();
      writeFileSync(path, text);
      await expect(openLedger(path, testMachine)).rejects.toMatchObject({
        code: 'config_invalid',
        detail: `${path}:1`,
      });
    });

    it('leaves nothing beside a file that is none', async () => {
      const path = testLedgerPath();
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'Dear diary\n');
      await expect(openLedger(path, testMachine)).rejects.toMatchObject({ code: 'config_invalid' });
      expect(readdirSync(dirname(path))).toEqual([basename(path)]);
    });

    it('that is not there is a wrong word, and none is made in its place', async () => {
      const path = testLedgerPath();
      await expect(openLedger(path, testMachine)).rejects.toMatchObject({
        code: 'usage',
        exitCode: 2,
        message: expect.stringContaining(path),
      });
      expect(existsSync(dirname(path))).toBe(false);
    });

    it('keeps the order of events that are recorded together', async () => {
      const path = testLedgerPath();
      const ledger = await createLedgerAt(path, batch, testMachine);
      await Promise.all(events.map((event, index) => (index % 3 === 0 ? ledger.commit(event) : ledger.record(event))));
      await ledger.close();
      expect(readFileSync(path, 'utf8')).toBe([batch, ...events].map(encodeEvent).join(''));
    });

    it('takes no more after a line that could not be written whole', async () => {
      const ledger = await ledgerFor(batch);
      await ledger.close();
      const [first] = events;
      if (first === undefined) throw new Error('no event');
      await expect(ledger.commit(first)).rejects.toMatchObject({ code: 'storage', detail: ledger.path });
      expect(() => ledger.record(first)).toThrow(expect.objectContaining({ code: 'storage' }));
    });

    it('lets only what was created wait for the next line', async () => {
      const path = testLedgerPath();
      const ledger = await createLedgerAt(path, batch, testMachine);
      const lines = (): number => readFileSync(path, 'utf8').split('\n').length - 2;
      const created: LedgerEvent = { event: 'created', at, group: 1, rows: [{ name: 'a', id: '7' }] };
      ledger.record(created);
      expect(lines()).toBe(0);
      ledger.record({ event: 'sending', at, group: 2, names: ['b'] });
      expect(lines()).toBe(2);
      ledger.record(created);
      await ledger.commit({ event: 'failed', at, group: 2, names: ['b'], error: 'no' });
      expect(lines()).toBe(4);
      await ledger.close();
    });

    it('that cannot announce a request leaves its names as they were', async () => {
      const ledger = await ledgerFor(batch);
      await ledger.close();
      const sending: LedgerEvent = { event: 'sending', at, group: 1, names: ['a'] };
      expect(() => ledger.record(sending)).toThrow();
      await expect(ledger.commit(sending)).rejects.toThrow();
      expect(ledger.state.rowAt(ledger.state.positionOf('a'))).toMatchObject({ status: 'failed' });
    });
  });

  describe('an event', () => {
    it('is read as it was written', () => {
      for (const event of [batch, ...events]) expect(decodeEvent(encodeEvent(event))).toEqual(event);
    });

    it('is nothing that came of anything else', () => {
      fc.assert(
        fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
          expect(decodeEvent(text)).toBeUndefined();
        }),
      );
    });

    it('without one of its parts is none', () => {
      const optional = new Set(['server_date', 'adopted', 'mark of nothing']);
      for (const event of [batch, ...events]) {
        for (const key of Object.keys(event).filter((one) => !optional.has(one))) {
          const { [key]: _gone, ...rest } = JSON.parse(JSON.stringify(event));
          expect([key, decodeEvent(JSON.stringify(rest))]).toEqual([key, undefined]);
        }
      }
    });

    it.each(['size', 'image', 'extra'])('that begins a batch without its %s is none', (key) => {
      const { [key]: _gone, ...attributes } = JSON.parse(JSON.stringify(batch.attributes));
      expect(decodeEvent(JSON.stringify({ ...batch, attributes }))).toBeUndefined();
    });
  });
});

describe('batch ledger file', () => {
  function begun() {
    const path = testLedgerPath();
    ensureFolder(dirname(path));
    writeFileSync(path, 'first\n');
    return { path, file: openFile(path), text: () => readFileSync(path, 'utf8') };
  }

  const refused = expect.objectContaining({ code: 'storage' });

  describe('the file of a ledger', () => {
    it.each(['deleted', 'replaced'])('that was %s during the run is noticed', async (how) => {
      const { path, file } = begun();
      await file.sync();
      if (how === 'deleted') rmSync(path);
      else {
        writeFileSync(`${path}.new`, 'first\n');
        renameSync(`${path}.new`, path);
      }
      expect(() => file.flush()).toThrow(refused);
      await expect(file.sync()).rejects.toEqual(refused);
      expect(() => file.append('second\n', false)).toThrow(refused);
      await file.close();
    });

    it('has a line that cannot wait at once, and before it those that could', async () => {
      const { file, text } = begun();
      file.append('second\n', true);
      expect(text()).toBe('first\n');
      file.append('third\n', false);
      expect(text()).toBe('first\nsecond\nthird\n');
      await file.close();
    });

    it('has a line that can wait at the end of the turn', async () => {
      const { file, text } = begun();
      file.append('second\n', true);
      await turn();
      expect(text()).toBe('first\nsecond\n');
      await file.close();
    });

    it('has all that was held when it is flushed, and when it is closed', async () => {
      const { file, text } = begun();
      file.append('second\n', true);
      file.flush();
      expect(text()).toBe('first\nsecond\n');
      file.append('third\n', true);
      await file.close();
      expect(text()).toBe('first\nsecond\nthird\n');
    });

    it('takes nothing after its end, and ends once', async () => {
      const { file, text } = begun();
      await Promise.all([file.close(), file.close()]);
      expect(() => file.append('late\n', false)).toThrow(refused);
      expect(() => file.flush()).toThrow(refused);
      await expect(file.sync()).rejects.toThrow(refused);
      expect(text()).toBe('first\n');
    });

    it('on a disk that is full tells whoever writes first after a line that could wait, and everyone after that', async () => {
      const file = openFile('/dev/full');
      file.append('held\n', true);
      await turn();
      const hint = expect.stringMatching(/ \/dev$/);
      const full = expect.objectContaining({ code: 'storage', message: expect.stringContaining('ENOSPC'), hint });
      expect(() => file.append('next\n', true)).toThrow(full);
      expect(() => file.append('next\n', false)).toThrow(full);
      expect(() => file.flush()).toThrow(full);
      await file.close();
    });
  });
});

describe('batch ledger lock', () => {
  /** A clock whose sleeps end at once; `during` runs in the third one. */
  function sleeplessClock(during: () => void = () => {}) {
    const sleeps: number[] = [];
    const sleep = async (ms: number): Promise<void> => void (sleeps.push(ms) === 3 && during());
    const clock: Clock = { now: Date.now, sleep };
    return { clock, total: () => sleeps.reduce((sum, ms) => sum + ms, 0) };
  }

  async function closedLedger(): Promise<string> {
    const path = testLedgerPath();
    await (await createLedgerAt(path, batchOf(['a']), testMachine)).close();
    return path;
  }

  it('a run waits while a listing holds the lock for a moment', async () => {
    const path = await closedLedger();
    const listing = tryAcquire(lockPathOf(path));
    const { clock, total } = sleeplessClock(() => listing?.release());
    const ledger = await openLedger(path, { ...testMachine, clock });
    expect(total()).toBeLessThan(1000);
    await ledger.close();
  });

  it('a run that waited for 1 s is told that another process runs the batch', async () => {
    const path = await closedLedger();
    const other = tryAcquire(lockPathOf(path));
    const { clock, total } = sleeplessClock();
    await expect(openLedger(path, { ...testMachine, clock })).rejects.toMatchObject({
      code: 'busy',
      detail: expect.stringContaining(`${path}.lock`),
    });
    expect(total()).toBe(1000);
    other?.release();
  });

  it('a ledger that is deleted during the wait is a missing one, and leaves no lock file', async () => {
    const path = await closedLedger();
    const other = tryAcquire(lockPathOf(path));
    const { clock } = sleeplessClock(() => {
      rmSync(path);
      rmSync(`${path}.lock`);
      other?.release();
    });
    await expect(openLedger(path, { ...testMachine, clock })).rejects.toMatchObject({ code: 'usage' });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('read batch ledger', () => {
  const at = '2026-01-01T00:00:00.000Z';

  it('reads the complete lines and leaves the file as it is', async () => {
    const { path, close } = await ledgerFor(batchOf(['a']));
    await close();
    const complete = readFileSync(path, 'utf8').length;
    writeFileSync(path, '{"event"', { flag: 'a' });
    expect(readLedger(path)).toMatchObject({
      length: complete,
      size: complete + 8,
      state: { batch: { names: ['a'] } },
    });
    expect(readFileSync(path, 'utf8')).toHaveLength(complete + 8);
  });

  it('a damaged or missing ledger is undefined, or an error with its line', async () => {
    const { path, close } = await ledgerFor(batchOf(['a']));
    await close();
    expect(tryReadState(`${path}.none`)).toBeUndefined();
    writeFileSync(path, 'text\n', { flag: 'a' });
    expect(tryReadState(path)).toBeUndefined();
    expect(() => readLedger(path)).toThrow(expect.objectContaining({ code: 'config_invalid', detail: `${path}:2` }));
  });

  it.skipIf(process.platform === 'win32')('a pipe in its place is an error that waits for nobody', async () => {
    const path = testLedgerPath();
    ensureFolder(dirname(path));
    execFileSync('mkfifo', [path]);
    expect(tryReadState(path)).toBeUndefined();
    expect(isResumable(path)).toBe(true);
    const refusal = expect.objectContaining({ code: 'usage', message: expect.stringContaining('named pipe') });
    expect(() => readLedger(path)).toThrow(refusal);
    await expect(openLedger(path, testMachine)).rejects.toMatchObject({ code: 'usage' });
    expect(existsSync(lockPathOf(path))).toBe(false);
  });

  it('a deleted droplet is missing again, but its id stays known', async () => {
    const ledger = await ledgerFor(batchOf(['a', 'b']));
    ledger.record({ event: 'baseline', at, existing: {} });
    ledger.record({
      event: 'created',
      at,
      group: 1,
      rows: [
        { name: 'a', id: '7' },
        { name: 'b', id: '8' },
      ],
    });
    // An id that the name does not have any more changes nothing.
    ledger.record({
      event: 'deleted',
      at,
      rows: [
        { name: 'a', id: '7' },
        { name: 'b', id: '9' },
      ],
    });
    await ledger.close();
    const { state } = readLedger(ledger.path);
    expect(state.missing()).toEqual(['a']);
    expect([state.ownsId('7'), state.ownsId('8')]).toEqual([true, true]);
    expect(state.counts()).toMatchObject({ created: 1, missing: 1 });
  });
});

it.each(['', '{"event":"ba'])('a ledger with the content %j says that nothing was sent, and how to begin', (text) => {
  const path = testLedgerPath();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const hint = expect.stringContaining(`--ledger ${path}`);
  expect(() => readLedger(path)).toThrow(
    expect.objectContaining({ code: 'config_invalid', detail: `${path}:1`, hint }),
  );
});
