import { describe, expect, test } from 'vitest';
import { parseExact, stringifyExact } from '../../src/base/exact.ts';
import { compileJmespath, fieldSelector, QueriedData, toDoubles } from '../../src/cli/query.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

describe('a query', () => {
  test('an expression chooses and reshapes data', async () => {
    const query = await compileJmespath("[?status=='active'].{n: name}");
    expect(
      query([
        { name: 'a', status: 'active' },
        { name: 'b', status: 'off' },
      ]),
    ).toEqual([{ n: 'a' }]);
  });

  test('rows that are only chosen stay the same objects', async () => {
    const rows = [{ id: 1 }, { id: 2 }];
    const query = await compileJmespath('[?id==`2`]');
    expect(query(rows)).toEqual([rows[1]]);
    expect(query(rows)).toSatisfy((found: readonly unknown[]) => found[0] === rows[1]);
  });

  test.each(['[?', 'a..b', '', 'foo(', '"'])(
    'the invalid expression %j is a usage error before any request',
    async (text) => {
      await expect(compileJmespath(text)).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
    },
  );

  test('the error of an invalid expression shows a valid one', async () => {
    expectGolden('errors', errorText(await compileJmespath('[?').catch((error: unknown) => error)));
  });

  test('an expression that does not fit the data is not a usage error: the request was sent', async () => {
    const query = await compileJmespath('length(@)');
    expect(() => query(5)).toThrow(expect.objectContaining({ code: 'query_failed', exitCode: 1 }));
    expectGolden(
      'errors',
      errorText(
        await Promise.resolve(5)
          .then(query)
          .catch((error: unknown) => error),
      ),
    );
  });

  test.each(['lenght(@)', '[].{n: lenght(name)}', 'length()', 'length(@, @)', 'sort_by(@)'])(
    'the wrong call %s is a usage error before any request',
    async (text) => {
      await expect(compileJmespath(text)).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
    },
  );

  test.each(['sort_by(@, &id)', 'not_null(a, b, c)', 'merge(@, `{}`)', "starts_with(@, 'a')", "pad_left(@, `5`, '0')"])(
    'the call %s is not refused before its data are known',
    async (text) => {
      await expect(compileJmespath(text)).resolves.toBeInstanceOf(Function);
    },
  );

  test.each([
    ['[].name', true],
    ['[*].{n: name}', true],
    ["[?status=='active']", true],
    ["[?status=='active'].tags[]", true],
    ["[].name | [?starts_with(@, 'a')]", true],
    ['@', true],
    ['[0].name', false],
    ['[:2].name', false],
    ['length(@)', false],
    ['sort_by(@, &id)', false],
    ['[].name | [0]', false],
    ['[].name | length(@)', false],
    ['[?contains($[].name, name)]', false],
    ['{all: [].name}', false],
  ])('%s looks at each element by itself: %s', async (text, isItemwise) => {
    const query = await compileJmespath(text);
    expect(query.isItemwise).toBe(isItemwise);
    const list = [
      { id: 1, name: 'a', status: 'active', tags: ['x', 'y'] },
      { id: 2, name: 'ab', status: 'off', tags: [] },
      { id: 3, name: 'b', status: 'active', tags: ['z'] },
    ];
    const parts = [list.slice(0, 1), list.slice(1)].map((part) => query(part));
    if (isItemwise) expect(parts.flat()).toEqual(query(list));
  });

  const shown = async (text: string, data: unknown = null) => stringifyExact((await compileJmespath(text))(data));

  test.each([
    ['`5`', '5'],
    ['` -1.5e1 `', '-15'],
    ['`true`', 'true'],
    ['`null`', 'null'],
    ['`"a"`', '"a"'],
    ['`"\\u03a6 ✓ 𝄞"`', '"Φ ✓ 𝄞"'],
    ['`[1, {"a": ["b"]}]`', '[1,{"a":["b"]}]'],
    ['`{"a": {"b": "c"}}`.a.b', '"c"'],
    ['`[0, 1, 2]`[1]', '1'],
    ['`"x\\`y\\`z"`', '"x`y`z"'],
    ['`"say \\"x\\""`', '"say \\"x\\""'],
    ['`"\\\\"`.{a: `"b"`}', '{"a":"b"}'],
    ['[`1`, `"]"`]', '[1,"]"]'],
    // Quotes around a backtick: no literal begins there.
    ["'a `b` c'", '"a `b` c"'],
    ["'it\\'s `5`'", '"it\'s `5`"'],
    ['{"a`b": `1`}', '{"a`b":1}'],
    // Strings without their quotes, as jmespath.py and aws accept them.
    ['`running`', '"running"'],
    ['`   two words `', '"two words "'],
    ['`say \\"x\\"`', '"say \\"x\\""'],
    ['`a\\`b\\`c`', '"a`b`c"'],
    ['`1\\``', '"1`"'],
    ['`0\u00a0`', '"0\u00a0"'],
    ['`\\\\`.{a: `b`}', '{"a":"b"}'],
    ['`nyc3` == `"nyc3"`', 'true'],
  ])('the literal %s is %s', async (text, expected) => {
    expect(await shown(text)).toBe(expected);
  });

  test.each([
    '`',
    '`5',
    '[?id == `5]',
    '``',
    '` `',
    '`[1,`',
    '`{a: 1}`',
    '`"a`',
    '`"a\\`',
    'a.`"b"`',
    '`"\n"`',
    '`a"b`',
  ])('the literal of %j is not valid', async (text) => {
    await expect(compileJmespath(text)).rejects.toMatchObject({ code: 'usage', detail: expect.any(String) });
  });

  test('the error of a literal shows it, with what is invisible in it', async () => {
    const errors = ['[?id == `{a: 1}`]', '[?id == `5]', '`{\u200b}`'].map((text) =>
      compileJmespath(text).catch((error: unknown) => errorText(error)),
    );
    expectGolden('errors', (await Promise.all(errors)).join('\n\n'));
  });

  test.each(['[?id > ]', '[?id == ].name', '[?id >= && name]'])(
    'an expression whose literals the shell took gets the quotes that keep them: %s',
    async (text) => {
      await expect(compileJmespath(text)).rejects.toMatchObject({ hint: expect.stringContaining("'[?id > `5`]'") });
    },
  );

  test.each([
    ['[?id == `9007199254740993`].name', '["b"]'],
    ['[?id > `9007199254740993`].name', '["c"]'],
    ['[?id != `9007199254740992`].name', '["b","c"]'],
    ['[?contains(`[9007199254740993, 9007199254740994]`, id)].name', '["b","c"]'],
    ['[0].{id: `9007199254740993`, same: id}', '{"id":9007199254740993,"same":9007199254740992}'],
  ])('a number of a literal keeps its digits: %s', async (text, expected) => {
    const json = '[9007199254740992, 9007199254740993, 9007199254740994]';
    const ids = parseExact(json);
    const rows = Array.isArray(ids) ? ids.map((id: unknown, at) => ({ id, name: 'abc'[at] })) : [];
    expect(await shown(text, rows)).toBe(expected);
  });

  test.each([
    ['[?id == `9`].{n: name}', ['n']],
    ['[?name == `none`].{n: name, "x y": id}', ['n', 'x y']],
    ['[?id > `9`]', undefined],
    ['[?id > `9`].name', []],
    ['[?id > `9`].{n: `1`}', ['n']],
    ['[?name == `"{"`].{n: name}', ['n']],
    ['[?id > `9`].{n: name} || `[]`', ['n']],
    ['`[]`[?@ == `1`]', []],
  ])('the columns of an empty result do not depend on literals: %s', async (text, columns) => {
    expect((await compileJmespath(text)).emptyColumns).toEqual(columns);
  });
});

describe('the fields of the output', () => {
  const rows = [
    { id: 1, name: 'a', tags: ['x'] },
    { id: 2, name: 'b' },
  ];

  test('the fields of a list or of one object, null where one is absent', () => {
    const query = fieldSelector(['name', 'tags'], undefined);
    expect(query(rows)).toEqual([
      { name: 'a', tags: ['x'] },
      { name: 'b', tags: null },
    ]);
    expect(query(rows[0])).toEqual({ name: 'a', tags: ['x'] });
    expect(query([])).toEqual([]);
    expect(query.isItemwise).toBe(true);
  });

  test('a field that no object has is an error, also one of the prototype', () => {
    for (const field of ['color', 'constructor', '__proto__', ''])
      expect(() => fieldSelector(['id', field], undefined)(rows)).toThrowError(
        expect.objectContaining({ code: field === '' ? 'usage' : 'query_failed', exitCode: field === '' ? 2 : 1 }),
      );
  });

  test('--query is applied first', async () => {
    const query = fieldSelector(['id'], await compileJmespath("[?name=='b']"));
    expect(query(rows)).toEqual([{ id: 2 }]);
  });

  const spec = {
    fields: ['id', 'name', 'created_at', 'tags', 'tag_names'],
    columns: [{ name: 'Name' }, { name: 'PublicIPv4' }],
  };

  test.each([
    ['Name', 'name'],
    ['NAME', 'name'],
    ['createdAt', 'created_at'],
    ['created-at', 'created_at'],
    ['CREATED_AT', 'created_at'],
    ['tagNames', 'tag_names'],
  ])('%s is the field %s, with and without known fields', (typed, field) => {
    const row: Record<string, unknown> = { id: 1, name: 'a', created_at: 'b', tag_names: 'c' };
    for (const known of [spec, {}]) {
      const query = fieldSelector([typed], undefined, known);
      expect(query([row])).toEqual([{ [field]: row[field] }]);
    }
    expect(fieldSelector([typed], undefined, spec).emptyColumns).toEqual([field]);
  });

  test('a field that several fields may be is unknown, unless one is the same', () => {
    const row = { Name: 1, name: 2 };
    expect(() => fieldSelector(['NAME'], undefined)([row])).toThrowError();
    expect(fieldSelector(['Name'], undefined)([row])).toEqual([{ Name: 1 }]);
  });

  test('an unknown field of a command is an error before the data, with the nearest field or the column', () => {
    const errors = ['nmae', 'publicipv4', 'colour', 'x\u200b', ''].map((field) => {
      try {
        fieldSelector(['id', field], undefined, spec);
        return undefined;
      } catch (error) {
        return error;
      }
    });
    expectGolden('errors', errors.map(errorText).join('\n\n'));
  });

  test('a known field that no object has is null, so that the result does not depend on the rows', () => {
    const query = fieldSelector(['id', 'tags'], undefined, spec);
    expect(query([{ id: 1 }])).toEqual([{ id: 1, tags: null }]);
  });

  test('with --query the fields are those of its result', async () => {
    const query = fieldSelector(['n'], await compileJmespath('[].{n: name}'), spec);
    expect(query(rows)).toEqual([{ n: 'a' }, { n: 'b' }]);
    expect(() => fieldSelector([''], undefined)).toThrowError(expect.objectContaining({ code: 'usage' }));
    expect(() => fieldSelector(['id', '', 'name'], undefined, spec)).toThrowError(
      expect.objectContaining({ code: 'usage', hint: expect.stringContaining('--json id,name') }),
    );
  });
});

test('the notice of an empty result names at most 20 fields, without what a terminal would obey', async () => {
  const queried = new QueriedData(await compileJmespath('[].naem'));
  queried.query([Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}\u001b[2J`, at]))]);
  const notice = queried.notice() ?? '';
  expect(notice).toContain('f19');
  expect(notice).not.toContain('f20');
  expect(notice).toContain('9980');
  expect(notice).not.toContain('\u001b');
});

describe('exact numbers', () => {
  const list = `[{"id":9007199254740993,"name":"b"},{"id":9007199254740992,"name":"a","size":{"price":1.50}},{"id":7,"name":"c"},{"id":9007199254740995}]`;

  async function queried(json: string, expression: string): Promise<string | undefined> {
    return stringifyExact((await compileJmespath(expression))(parseExact(json)));
  }

  describe('a query that only passes numbers on leaves their digits', () => {
    test.each([
      ['@', list],
      ['[].id', '[9007199254740993,9007199254740992,7,9007199254740995]'],
      ["[?name=='b'].id", '[9007199254740993]'],
      ["[?name=='b'].{Id: id, is: name}", '[{"Id":9007199254740993,"is":"b"}]'],
      ['[1]', '{"id":9007199254740992,"name":"a","size":{"price":1.50}}'],
      ['[1].size', '{"price":1.50}'],
      ['sort_by(@, &id)[].id', '[7,9007199254740992,9007199254740993,9007199254740995]'],
      ['max_by(@, &id).id', '9007199254740995'],
      ['[?id > `7`].name', '["b","a"]'],
      ['length(@)', '4'],
    ])('%s', async (expression, expected) => {
      expect(await queried(list, expression)).toBe(expected);
    });
  });

  test('neighbours of which all are the same double keep their own digits, and their order', async () => {
    const ids = ['12345678901234567889', '12345678901234567890', '12345678901234567891'];
    expect(await queried(`[${ids.toReversed()}]`, 'sort(@)')).toBe(`[${ids}]`);
  });

  test('a number between two that are doubles keeps its place', async () => {
    const ids = ['9007199254740992', '9007199254740993', '9007199254740994'];
    expect(await queried(`[${ids.toReversed()}]`, 'sort(@)')).toBe(`[${ids}]`);
    expect(await queried(`[${ids}]`, '[?@ > `9007199254740993`]')).toBe('[9007199254740994]');
  });

  test('below nothing as well', async () => {
    const json = '[-9007199254740995,-9007199254740993,-9007199254740992]';
    expect(await queried(json, '[?@ < `0`]')).toBe(json);
  });

  test('rows that were chosen are the rows that were there', async () => {
    const rows = parseExact(list);
    const chosen = (await compileJmespath("[?name=='b'] | [0]"))(rows);
    expect(Array.isArray(rows) && rows[0] === chosen).toBe(true);
  });

  test('data without such numbers needs none in their place', () => {
    expect(toDoubles(JSON.parse('[{"id":9007199254740992,"n":1.5}]'))).toBeUndefined();
  });
});
