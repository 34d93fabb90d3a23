import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { csvEncoder, formatTable, jsonDocument, ndjsonLine } from '../../src/cli/formats.ts';
import { readCsv } from './read-csv.ts';

describe('a table', () => {
  test('columns are two spaces apart, without borders and trailing spaces', async () => {
    const text = await formatTable({
      header: ['ID', 'Name', 'Tags'],
      rows: [
        ['1', 'web-01', ''],
        ['23', 'db', 'a,b'],
      ],
    });
    expect(text).toBe('ID  Name    Tags\n1   web-01\n23  db      a,b\n');
  });

  test('columns are aligned as the terminal shows them', async () => {
    const text = await formatTable({
      rows: [
        ['日本', 'x'],
        ['ab', 'y'],
        ['👩‍💻', 'z'],
      ],
    });
    expect(text).toBe('日本  x\nab    y\n👩‍💻    z\n');
  });

  test('what acts on a terminal is stripped from a table everywhere', async () => {
    expect(await formatTable({ header: ['N\u001b[31m'], rows: [['a\nb\u202e\u001b]0;t\u0007c']] })).toBe('N\na bc\n');
  });

  test('a line that does not fit the terminal is cut, the widest columns first', async () => {
    const rows = [['1', 'x'.repeat(60), 'active']];
    expect(await formatTable({ rows, width: 40 })).toBe(`1  ${'x'.repeat(28)}…  active\n`);
    expect(await formatTable({ rows, width: 20 })).toBe(`1  ${'x'.repeat(16)}…\n`);
    expect(await formatTable({ rows })).toBe(`1  ${'x'.repeat(60)}  active\n`);
  });

  test('without rows and header the text is empty', async () => {
    expect(await formatTable({ rows: [] })).toBe('');
    expect(await formatTable({ header: ['ID'], rows: [] })).toBe('ID\n');
  });

  test('every cell of a column begins at the same cell of the terminal', async () => {
    const word = fc.stringMatching(/^[a-z日本語é]{1,12}$/);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(word, word, word), { minLength: 1, maxLength: 8 }), async (rows) => {
        const lines = (await formatTable({ rows })).split('\n').slice(0, -1);
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
          for (const line of (await formatTable({ rows, width })).split('\n'))
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
    expect(await formatTable({ ...table, width: 26 })).toBe('ID  Name    Memory  Status\n1   web-01  1024    active\n');
    expect(await formatTable({ ...table, width: 25 })).toBe('ID  Name    Status\n1   web-01  active\n');
    expect(await formatTable({ ...table, width: 17 })).toBe('ID  Status\n1   active\n');
    expect(await formatTable({ ...table, width: 9 })).toBe('ID  Stat…\n1   acti…\n');
    expect(await formatTable(table)).toContain('Memory');
  });

  test('a style is applied to cells that are cut and aligned without it', async () => {
    const style = (text: string, column: number, row: number | undefined) => `<${row ?? 'h'}${column}:${text}>`;
    const text = await formatTable({
      header: ['ID', 'Name'],
      rows: [['1', 'a']],
      style,
      priorities: [],
      width: 80,
    });
    expect(text).toBe('<h0:ID>  <h1:Name>\n<00:1>   <01:a>\n');
  });
});

describe('csv', () => {
  test('a record ends with LF, and only what must be quoted is', async () => {
    const record = await csvEncoder();
    expect(record(['a', 1, true, false, null, undefined])).toBe('a,1,true,false,,\n');
    expect(record(['a,b', 'say "hi"', 'two\nlines', ' blank '])).toBe('"a,b","say ""hi""","two\nlines", blank \n');
  });

  test('a record of one empty field is not an empty line', async () => {
    const record = await csvEncoder();
    expect(record([null])).toBe('""\n');
  });

  test('every record reads the same again by RFC 4180', async () => {
    const record = await csvEncoder();
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', ',', '\r\n', '\n', '\r', '""', '=1+1', ''),
    );
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }), (rows) => {
        expect(readCsv(rows.map((cells) => record(cells)).join(''))).toEqual(rows);
      }),
      { numRuns: 500 },
    );
  });
});

describe('json', () => {
  test('JSON is indented by two blanks and ends with a newline', () => {
    expect(jsonDocument([{ b: 1, a: null }])).toBe('[\n  {\n    "b": 1,\n    "a": null\n  }\n]\n');
    expect(jsonDocument([])).toBe('[]\n');
    expect(jsonDocument(undefined)).toBe('null\n');
  });

  test('characters that act on a terminal are escaped, and the data is the same', () => {
    const data = { name: 'a\u009b31m\u202eb\u001b[0m' };
    expect(jsonDocument(data)).toContain('a\\u009b31m\\u202eb\\u001b[0m');
    expect(JSON.parse(jsonDocument(data))).toEqual(data);
  });
});

describe('ndjson', () => {
  test('a JSON text is on one line, whatever it contains', () => {
    expect(ndjsonLine({ a: 'x\ny\u2028z', b: [1, 2] })).toBe('{"a":"x\\ny\\u2028z","b":[1,2]}\n');
    expect(ndjsonLine(undefined)).toBe('null\n');
  });

  test('characters that must not reach a terminal are escaped', () => {
    expect(ndjsonLine({ a: 'é\u202e' })).toBe('{"a":"é\\u202e"}\n');
    expect(ndjsonLine({ a: '\u007f' })).toBe('{"a":"\\u007f"}\n');
  });
});
