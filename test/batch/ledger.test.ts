import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEvent, encodeEvent, type LedgerEvent } from '../../src/batch/event.ts';
import { createLedger, openLedger } from '../../src/batch/ledger.ts';
import { batchOf, ledgerFor, pathFor } from './ground.ts';

const at = '2026-01-01T00:00:00.000Z';
const events: readonly LedgerEvent[] = [
  { event: 'baseline', at, server_date: at, existing: { a: [1, 2] } },
  { event: 'sending', at, group: 1, server_date: at, names: ['a', 'b'] },
  { event: 'created', at, group: 1, rows: [{ name: 'a', id: 7, action_id: 8 }] },
  { event: 'created', at, group: 1, adopted: true, rows: [{ name: 'b', id: 9 }] },
  { event: 'sending', at, group: 2, names: ['c'] },
  { event: 'failed', at, group: 2, names: ['c'], error: 'no' },
  { event: 'sending', at, group: 3, names: ['d'] },
  { event: 'unknown', at, group: 3, names: ['d'], error: 'who knows', resend: true },
];
const batch = batchOf(['a', 'b', 'c', 'd'], { if_exists: 'create' });

async function written() {
  const path = pathFor();
  const ledger = await createLedger(path, batch);
  for (const event of events) await ledger.record(event, true);
  await ledger.close();
  return { path, rows: [...ledger.roster.rows()] };
}

describe('a ledger', () => {
  it('is one JSON line for each event, for its owner alone', async () => {
    const { path } = await written();
    expect(readFileSync(path, 'utf8')).toBe([batch, ...events].map(encodeEvent).join(''));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('opened again tells the same of every name', async () => {
    const { path, rows } = await written();
    const again = await openLedger(path);
    expect([...again.roster.rows()]).toEqual(rows);
    expect(again.roster.doubts()).toMatchObject([{ group: 3, names: ['d'], resend: true }]);
    await again.close();
  });

  it('is held by one process at a time', async () => {
    const path = pathFor();
    const ledger = await createLedger(path, batch);
    await expect(openLedger(path)).rejects.toMatchObject({ code: 'busy', exitCode: 1 });
    await ledger.close();
    await (await openLedger(path)).close();
  });

  it('torn at any byte of its end is the ledger without what was torn', async () => {
    const { path } = await written();
    const whole = readFileSync(path);
    const first = whole.indexOf('\n') + 1;
    for (let length = first; length <= whole.length; length += 7) {
      writeFileSync(path, whole.subarray(0, length));
      const ledger = await openLedger(path);
      await ledger.close();
      const kept = whole.subarray(0, whole.lastIndexOf('\n', length - 1) + 1);
      expect(readFileSync(path).equals(kept)).toBe(true);
    }
  });

  it('with zeros at its end, as after a loss of power, is the ledger without them', async () => {
    const { path } = await written();
    const whole = readFileSync(path, 'utf8');
    appendFileSync(path, Buffer.alloc(100));
    await (await openLedger(path)).close();
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
    await expect(openLedger(path)).rejects.toMatchObject({ code: 'config_invalid', detail: `${path}:4` });
    expect(readFileSync(path, 'utf8')).toBe(lines.join('\n'));
  });

  it.each([
    ['', ''],
    ['nothing but a torn line', '{"event":"bat'],
  ])('%j is no ledger', async (_what, text) => {
    const path = pathFor();
    await (await createLedger(path, batch)).close();
    writeFileSync(path, text);
    await expect(openLedger(path)).rejects.toMatchObject({ code: 'config_invalid', detail: `${path}:1` });
  });

  it('keeps the order of events that are recorded together', async () => {
    const path = pathFor();
    const ledger = await createLedger(path, batch);
    await Promise.all(events.map((event, index) => ledger.record(event, index % 3 === 0)));
    await ledger.close();
    expect(readFileSync(path, 'utf8')).toBe([batch, ...events].map(encodeEvent).join(''));
  });

  it('takes no more after a line that could not be written whole', async () => {
    const ledger = await ledgerFor(batch);
    await ledger.close();
    const [first] = events;
    if (first === undefined) throw new Error('no event');
    await expect(ledger.record(first, true)).rejects.toMatchObject({ code: 'internal', detail: ledger.path });
    await expect(ledger.record(first, false)).rejects.toMatchObject({ code: 'internal' });
  });

  it('that cannot announce a request leaves its names as they were', async () => {
    const ledger = await ledgerFor(batch);
    await ledger.close();
    await expect(ledger.record({ event: 'sending', at, group: 1, names: ['a'] }, true)).rejects.toThrow();
    expect(ledger.roster.row('a')).toMatchObject({ status: 'failed' });
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
});
