import { describe, expect, test } from 'vitest';
import { cellFormatter, prepareObject, prepareResult, prepareRows, relativeTime } from '../../src/cli/print.ts';

describe('prepared output', () => {
  const row = { a: 1, b: 'x' };
  const view = { columns: [{ name: 'A', value: (value: typeof row) => value.a }] };

  test('rows keep their data beside their cells', () => {
    expect(prepareRows([row], view, undefined)).toMatchObject({
      kind: 'rows',
      names: ['A'],
      cells: [[1]],
      data: [row],
    });
    expect(prepareRows([row], view, ['a'])).toMatchObject({ data: [{ A: 1 }] });
    expect(prepareObject(row, view, undefined)).toMatchObject({
      kind: 'object',
      names: ['A'],
      cells: [1],
      data: row,
    });
  });

  test('without a table no cell is made', () => {
    let made = 0;
    const value = () => {
      made += 1;
      return made;
    };
    expect(prepareRows([row], { columns: [{ name: 'A', value }] }, undefined).data).toEqual([row]);
    expect(prepareObject(row, { columns: [{ name: 'A', value }] }, undefined).data).toBe(row);
    expect(made).toBe(0);
  });

  test.each([
    [[row], 'rows', ['A']],
    [[{ a: 1, b: 'x' }], 'rows', ['a', 'b']],
    [row, 'object', ['A']],
    [{ z: 1 }, 'object', ['z']],
    [[], 'rows', ['A']],
  ] as const)('%j is shown by the columns it has', (result, kind, names) => {
    expect(prepareResult(result, view, [row], undefined)).toMatchObject({ kind, names });
  });

  test.each([
    [[1, 'a', null], { kind: 'values', cells: [[1], ['a'], [null]] }],
    [[[1, 2], [3]], { kind: 'values', cells: [[1, 2], [3]] }],
    [[{ a: 1 }, 2], { kind: 'values', cells: [['{"a":1}'], [2]] }],
    ['text', { kind: 'value', cell: 'text' }],
    [null, { kind: 'value', cell: null }],
  ])('%j has no columns', (result, expected) => {
    expect(prepareResult(result, view, [row], undefined)).toMatchObject(expected);
  });
});

describe('the cells of a terminal', () => {
  const now = Date.parse('2026-03-10T12:00:00Z');

  test.each([
    ['2026-03-10T12:00:00Z', '0 s ago'],
    ['2026-03-10T11:59:01Z', '59 s ago'],
    ['2026-03-10T11:57:00.500Z', '2 min 59 s ago'],
    ['2026-03-10T09:00:00Z', '3 h ago'],
    ['2026-03-08T11:00:00Z', '2 d 1 h ago'],
    ['2026-04-08T12:00:00Z', 'in 29 d'],
    ['2025-03-10T12:00:00Z', '2025-03-10'],
    ['2028-03-10T12:00:00Z', '2028-03-10'],
    ['soon', 'soon'],
    ['2026-13-45T99:00:00Z', '2026-13-45T99:00:00Z'],
  ])('the time %s is shown as %s', (time, text) => {
    expect(relativeTime(time, now)).toBe(text);
  });

  test('only a terminal gets relative times, and only columns with a kind are changed', async () => {
    const time = '2026-03-10T11:00:00Z';
    const terminal = await cellFormatter({ isTerminal: true, color: true, now: () => now });
    const pipe = await cellFormatter({ isTerminal: false, color: false, now: () => now });
    expect(terminal.text(time, { kind: 'time' })).toBe('1 h ago');
    expect(terminal.text(time, undefined)).toBe(time);
    expect(pipe.text(time, { kind: 'time' })).toBe(time);
    expect(pipe.style('active', { kind: 'state' }, undefined)).toBe('active');
    expect(terminal.style('active', { kind: 'state' }, undefined)).toBe('\u001b[32mactive\u001b[39m');
    expect(terminal.style('errored', { kind: 'state' }, undefined)).toBe('\u001b[31merrored\u001b[39m');
    expect(terminal.style('new', { kind: 'state' }, undefined)).toBe('\u001b[33mnew\u001b[39m');
    expect(terminal.style('off', { kind: 'state' }, undefined)).toBe('\u001b[2moff\u001b[22m');
    expect(terminal.style('active', {}, undefined)).toBe('active');
    expect(terminal.styleHeader('Status')).toBe('\u001b[2mStatus\u001b[22m');
  });

  test('a cell has its link where the terminal shows links', async () => {
    const link = (cell: unknown) => (cell === 7 ? 'https://cloud.example/7' : undefined);
    const options = { isTerminal: true, color: false, now: () => now };
    const [linked, plain] = await Promise.all(
      [true, false].map((hyperlinks) => cellFormatter({ ...options, hyperlinks })),
    );
    expect(linked?.style('7', { link }, 7)).toBe('\u001b]8;;https://cloud.example/7\u001b\\7\u001b]8;;\u001b\\');
    expect(linked?.style('8', { link }, 8)).toBe('8');
    expect(plain?.style('7', { link }, 7)).toBe('7');
  });
});
