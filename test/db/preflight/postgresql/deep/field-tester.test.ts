import { expect, test } from 'vitest';
import { settleByScan } from '../../../../../src/db/preflight/postgresql/deep/results.ts';
import { createFieldTester } from '../../../../../src/db/preflight/postgresql/deep/rows.ts';
import { isRefused } from '../../../../../src/db/preflight/postgresql/queries/refused-values.ts';

const nulls = { position: 1, isFound: (field: string | null) => field === null };

test.each([
  ['a NULL', ['1\ta\tx\n', '2\t\\N\tx\n'], true],
  ['a NULL in parts', ['1\ta\tx\n', '2', '\t\\', 'N', '\tx', '\n'], true],
  ['a NULL in the last column', ['1\t\\N\n'], true],
  ['NULL in another column, and the text \\N', ['\\N\t\\\\N\t\\N\n', '1\tNULL\t\\N\n'], false],
] as const)('%s', (_what, parts, found) => {
  const tester = createFieldTester([nulls]);
  for (const part of parts) tester.add(Buffer.from(part));
  expect(tester.result(nulls)).toBe(found);
});

test('a field that is too large to be tested leaves the column untested', () => {
  const tester = createFieldTester([nulls]);
  const large = Buffer.alloc(2 ** 24, 'a');
  tester.add(Buffer.from('1\t'));
  for (let part = 0; part < 5; part += 1) tester.add(large);
  tester.add(Buffer.from('\n'));
  expect(tester.result(nulls)).toBe(undefined);
});

const nested = (levels: number, inner = '') => `${'<a b=">">'.repeat(levels)}${inner}${'</a>'.repeat(levels)}`;

test.each([
  ['xml', '', 'a\x01b', true],
  ['xml', '', 'a\tb\n', false],
  ['xml', '', nested(257), true],
  ['xml', '', nested(256), false],
  ['xml', '', nested(256, '<!-- <b> --><![CDATA[<b>]]><?p <b>?>'), false],
  ['xml', '', nested(256, "<b c='/>'/>"), true],
  ['xml', '', '<a/>'.repeat(300), false],
  ['circle', '', '<(0,-1),0>', false],
  ['circle', '', '<(0,0),-1>', true],
  ['circle', 'array', '{"<(0,0),1>","<(0,0),-1>"}', true],
  ['time with time zone', '', '10:00:00+17', true],
  ['time with time zone', '', '10:00:00-15:59:59', false],
  ['tsvector', '', `'' 'a':1`, true],
  ['tsvector', '', `'a '''' b' 'it''s' '\\\\'`, false],
  ['"char"', '', '\u{fffd}', true],
  ['"char"', '', '\\310', false],
  ['public.d', '', null, true],
  ['public.d', '', 'NULL', false],
  ['public.d', 'array', '[0:1]={NULL,a}', true],
  ['public.d', 'array', '{"NULL",""}', false],
  ['public.d', 'array', null, false],
  ['public.d', 'array 1', '{"(1,)"}', true],
  ['public.d', 'domain 0', '(,x)', true],
  ['public.d', '0', '("",x)', false],
] as const)('%s at %j in %j: %s', (type, path, field, refused) => {
  expect(isRefused(field, { type, path })).toBe(refused);
});

test('the scan settles what the search in small tables left open', () => {
  const column = (name: string, rows: 'fit' | 'unseen') => ({
    ...{ table: 'public.t', column: name, rawColumn: name, type: 'xml', path: '', isCertain: true, rows },
  });
  const [read, refused, other, known] = [
    column('read', 'unseen'),
    column('refused', 'unseen'),
    column('other', 'unseen'),
    column('known', 'fit'),
  ];
  const scan = {
    tested: [
      { column: read, isRefused: false },
      { column: refused, isRefused: true },
    ],
  };
  const rows = settleByScan([read, refused, other, known], scan).map((one) => one.rows);
  expect(rows).toEqual(['fit', 'violate', 'unseen', 'fit']);
});
