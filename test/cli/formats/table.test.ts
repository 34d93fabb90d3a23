import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { formatTextTable } from '../../../src/cli/formats.ts';

test('columns are two spaces apart, without borders and trailing spaces', async () => {
  const text = await formatTextTable({
    header: ['ID', 'Name', 'Tags'],
    rows: [
      ['1', 'web-01', ''],
      ['23', 'db', 'a,b'],
    ],
  });
  expect(text).toBe('ID  Name    Tags\n1   web-01\n23  db      a,b\n');
});

test('columns are aligned as the terminal shows them', async () => {
  const text = await formatTextTable({
    rows: [
      ['日本', 'x'],
      ['ab', 'y'],
      ['👩‍💻', 'z'],
    ],
  });
  expect(text).toBe('日本  x\nab    y\n👩‍💻    z\n');
});

test('what acts on a terminal is stripped from a table everywhere', async () => {
  expect(await formatTextTable({ header: ['N\u001b[31m'], rows: [['a\nb\u202e\u001b]0;t\u0007c']] })).toBe('N\na bc\n');
});

test('a line that does not fit the terminal is cut, the widest columns first', async () => {
  const rows = [['1', 'x'.repeat(60), 'active']];
  expect(await formatTextTable({ rows, width: 40 })).toBe(`1  ${'x'.repeat(28)}…  active\n`);
  expect(await formatTextTable({ rows, width: 20 })).toBe(`1  ${'x'.repeat(16)}…\n`);
  expect(await formatTextTable({ rows })).toBe(`1  ${'x'.repeat(60)}  active\n`);
});

test('without rows and header the text is empty', async () => {
  expect(await formatTextTable({ rows: [] })).toBe('');
  expect(await formatTextTable({ header: ['ID'], rows: [] })).toBe('ID\n');
});

test('every cell of a column begins at the same cell of the terminal', async () => {
  const word = fc.stringMatching(/^[a-z日本語é]{1,12}$/);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(word, word, word), { minLength: 1, maxLength: 8 }), async (rows) => {
      const lines = (await formatTextTable({ rows })).split('\n').slice(0, -1);
      const starts = lines.map((line, at) => {
        const [first, second, third] = rows[at]!;
        expect(line.replace(/ +/g, ' ')).toBe(`${first} ${second} ${third}`);
        const secondAt = first.length + /^ +/.exec(line.slice(first.length))![0].length;
        return [stringWidth(line.slice(0, secondAt)), stringWidth(line) - stringWidth(third)].join();
      });
      expect(new Set(starts).size).toBe(1);
    }),
  );
});

test('no line is wider than the terminal', async () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 5 }),
      fc.integer({ min: 1, max: 80 }),
      async (rows, width) => {
        for (const line of (await formatTextTable({ rows, width })).split('\n'))
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
  );
});

test('columns of low priority are left out whole, the least important first, until the others fit', async () => {
  const table = {
    header: ['ID', 'Name', 'Memory', 'Status'],
    rows: [['1', 'web-01', '1024', 'active']],
    priorities: [undefined, 1, 2, undefined],
  };
  expect(await formatTextTable({ ...table, width: 26 })).toBe(
    'ID  Name    Memory  Status\n1   web-01  1024    active\n',
  );
  expect(await formatTextTable({ ...table, width: 25 })).toBe('ID  Name    Status\n1   web-01  active\n');
  expect(await formatTextTable({ ...table, width: 17 })).toBe('ID  Status\n1   active\n');
  expect(await formatTextTable({ ...table, width: 9 })).toBe('ID  Stat…\n1   acti…\n');
  expect(await formatTextTable(table)).toContain('Memory');
});

test('a style is applied to cells that are cut and aligned without it', async () => {
  const style = (text: string, column: number, row: number | undefined) => `<${row ?? 'h'}${column}:${text}>`;
  const text = await formatTextTable({ header: ['ID', 'Name'], rows: [['1', 'a']], style, priorities: [], width: 80 });
  expect(text).toBe('<h0:ID>  <h1:Name>\n<00:1>   <01:a>\n');
});
