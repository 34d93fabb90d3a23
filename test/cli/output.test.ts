import { describe, expect, test } from 'vitest';
import { usageError } from '../../src/base/errors.ts';
import { maxTextLength } from '../../src/base/sanitize.ts';
import { createOutput, type OutputOptions } from '../../src/cli/output.ts';
import type { OutputFormat } from '../../src/cli/print.ts';
import { compileJmespath } from '../../src/cli/query.ts';
import { fakeSink } from './sink.ts';

interface Droplet {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly more?: unknown;
}

const view = {
  columns: [
    { name: 'ID', value: (row: Droplet) => row.id },
    { name: 'Name', value: (row: Droplet) => row.name },
    { name: 'Status', value: (row: Droplet) => row.status, extra: true },
  ],
};

const droplets: readonly Droplet[] = [
  { id: 1, name: 'web', status: 'active', more: { deep: [1] } },
  { id: 2, name: 'db', status: 'off' },
];

const uncolored = { color: false, dataColor: false, now: () => Date.parse('2026-01-02T03:04:05Z') };

async function* pages(rows: readonly Droplet[], fault?: Error): AsyncGenerator<Droplet> {
  yield* rows;
  if (fault !== undefined) throw fault;
}

function outputOf(options: Partial<OutputOptions> & { readonly format: OutputFormat }, columns?: number) {
  const stdout = fakeSink(columns);
  const stderr = fakeSink();
  return {
    stdout,
    stderr,
    output: createOutput({ stdout, stderr, header: true, quiet: false, ...uncolored, ...options }),
  };
}

async function listed(
  format: OutputFormat,
  rows: readonly Droplet[],
  options: Partial<OutputOptions> = {},
  { columns, lines = 0 }: { readonly columns?: number; readonly lines?: number } = {},
): Promise<string> {
  const { output, stdout, stderr } = outputOf({ format, ...options }, columns);
  await output.list(pages(rows), view);
  expect(stderr.text().split('\n').length - 1).toBeLessThanOrEqual(lines);
  return stdout.text();
}

test.each([
  ['table', 'ID  Name\n1   web\n2   db\n'],
  ['json', `${JSON.stringify(droplets, null, 2)}\n`],
  ['ndjson', `${JSON.stringify(droplets[0])}\n${JSON.stringify(droplets[1])}\n`],
  ['csv', 'ID,Name\n1,web\n2,db\n'],
  [
    'yaml',
    '- id: 1\n  name: web\n  status: active\n  more:\n    deep:\n      - 1\n- id: 2\n  name: db\n  status: off\n',
  ],
] as const)('a list as %s', async (format, expected) => {
  const text = await listed(format, droplets);
  // YAML 1.2 readers take `off` for text, and so it is printed.
  expect(text).toBe(expected);
});

test.each([
  ['table', 'ID  Name\n'],
  ['json', '[]\n'],
  ['ndjson', ''],
  ['csv', 'ID,Name\n'],
  ['yaml', '[]\n'],
] as const)('an empty list as %s', async (format, expected) => {
  expect(await listed(format, [])).toBe(expected);
});

test.each([
  ['table', 'Status  ID\nactive  1\noff     2\n'],
  ['json', '[\n  {\n    "Status": "active",\n    "ID": 1\n  },\n  {\n    "Status": "off",\n    "ID": 2\n  }\n]\n'],
  ['ndjson', '{"Status":"active","ID":1}\n{"Status":"off","ID":2}\n'],
  ['csv', 'Status,ID\nactive,1\noff,2\n'],
  ['yaml', '- Status: active\n  ID: 1\n- Status: off\n  ID: 2\n'],
] as const)('--format picks columns in %s', async (format, expected) => {
  expect(await listed(format, droplets, { columns: ['status', 'ID'] })).toBe(expected);
});

test.each(['table', 'json', 'ndjson', 'csv', 'yaml'] as const)(
  'an unknown column is refused in %s before the first row is asked for',
  async (format) => {
    const { output, stdout } = outputOf({ format, columns: ['Nope'] });
    let asked = false;
    const rows = (async function* () {
      asked = true;
      yield* droplets;
    })();
    await expect(output.list(rows, view)).rejects.toMatchObject({
      code: 'usage',
      detail: 'known columns: ID, Name, Status',
    });
    expect([asked, stdout.text()]).toEqual([false, '']);
  },
);

test.each(['table', 'json', 'yaml'] as const)('an error in the middle leaves stdout empty in %s', async (format) => {
  const { output, stdout } = outputOf({ format });
  await expect(output.list(pages(droplets, new Error('page 2')), view)).rejects.toThrow('page 2');
  expect(stdout.text()).toBe('');
});

test.each(['ndjson', 'csv'] as const)('%s prints each row before the next is asked for', async (format) => {
  const { output, stdout } = outputOf({ format });
  const seen: string[] = [];
  const rows = (async function* () {
    for (const row of droplets) {
      yield row;
      seen.push(stdout.text());
    }
  })();
  await output.list(rows, view);
  expect(seen[0]).toContain('web');
  expect(seen[0]).not.toContain('db');
});

test('ndjson waits for a slow reader', async () => {
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stdout = { ...fakeSink(), write: () => blocked };
  let asked = 0;
  const rows = (async function* () {
    for (const row of droplets) {
      asked += 1;
      yield row;
    }
  })();
  const done = createOutput({
    stdout,
    stderr: fakeSink(),
    header: true,
    quiet: false,
    ...uncolored,
    format: 'ndjson',
  }).list(rows, view);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toBe(1);
  release();
  await done;
  expect(asked).toBe(2);
});

test('--no-header leaves the header out of tables and csv', async () => {
  expect(await listed('table', droplets, { header: false })).toBe('1  web\n2  db\n');
  expect(await listed('csv', droplets, { header: false })).toBe('1,web\n2,db\n');
});

test('a table is cut to the terminal, and only there', async () => {
  const wide = [{ id: 1, name: 'x'.repeat(50), status: '' }];
  expect(await listed('table', wide, {}, { columns: 20 })).toBe(`ID  Name\n1   ${'x'.repeat(15)}…\n`);
  expect(await listed('table', wide)).toContain('x'.repeat(50));
});

test('csv has no control characters on a terminal, and all of them in a file', async () => {
  const evil = [{ id: 1, name: 'a\u001b[31mb', status: '' }];
  expect(await listed('csv', evil, {}, { columns: 80 })).toBe('ID,Name\n1,ab\n');
  expect(await listed('csv', evil)).toBe('ID,Name\n1,a\u001b[31mb\n');
});

test.each(['table', 'json', 'ndjson', 'yaml'] as const)('%s never holds a bare escape character', async (format) => {
  const evil = [{ id: 1, name: 'a\u001b[31m\u009b1m\u202eb', status: '' }];
  expect(await listed(format, evil)).not.toMatch(/[\u001b\u009b\u202e]/);
});

test.each([
  ['table', 'ID    1\nName  web\n'],
  ['json', `${JSON.stringify(droplets[0], null, 2)}\n`],
  ['ndjson', `${JSON.stringify(droplets[0])}\n`],
  ['csv', 'ID,Name\n1,web\n'],
  ['yaml', 'id: 1\nname: web\nstatus: active\nmore:\n  deep:\n    - 1\n'],
] as const)('a single thing as %s', async (format, expected) => {
  const { output, stdout } = outputOf({ format });
  await output.object(droplets[0]!, view);
  expect(stdout.text()).toBe(expected);
});

test('one column of a single thing without its header is the value alone', async () => {
  const { output, stdout } = outputOf({ format: 'table', columns: ['name'], header: false });
  await output.object(droplets[0]!, view);
  expect(stdout.text()).toBe('web\n');
});

test.each([
  ['table', "[?status=='active']", 'ID  Name\n1   web\n'],
  ['csv', "[?status=='active']", 'ID,Name\n1,web\n'],
  ['table', '[].{n: name, deep: more}', 'n    deep\nweb  {"deep":[1]}\ndb\n'],
  ['csv', '[].{n: name, id: id}', 'n,id\nweb,1\ndb,2\n'],
  ['table', '[].name', 'web\ndb\n'],
  ['csv', '[].name', 'web\ndb\n'],
  ['ndjson', '[].name', '"web"\n"db"\n'],
  ['json', '[].name', '[\n  "web",\n  "db"\n]\n'],
  ['yaml', '[].name', '- web\n- db\n'],
  ['table', '[].[id, name]', '1  web\n2  db\n'],
  ['csv', '[].[id, name]', '1,web\n2,db\n'],
  ['table', 'length(@)', '2\n'],
  ['json', 'length(@)', '2\n'],
  ['ndjson', 'length(@)', '2\n'],
  ['csv', 'length(@)', '2\n'],
  ['yaml', 'length(@)', '2\n'],
  ['json', 'nothing', 'null\n'],
  ['table', '[0]', 'ID    1\nName  web\n'],
  ['json', '{all: length(@)}', '{\n  "all": 2\n}\n'],
  ['table', '{all: length(@)}', 'all  2\n'],
  ['table', '[?id==`9`]', 'ID  Name\n'],
  ['json', '[?id==`9`]', '[]\n'],
  ['table', '[`1`, \'a\', `null`, `{"b":1}`]', '1\na\n\n{"b":1}\n'],
] as const)('as %s the query %s', async (format, expression, expected) => {
  const lines = expression === 'nothing' ? 1 : 0;
  expect(await listed(format, droplets, { query: await compileJmespath(expression) }, { lines })).toBe(expected);
});

test.each([
  ['table', 'nothing', 1, 0],
  ['csv', 'nothing', 1, 0],
  ['json', 'nothing', 0, 5],
  ['table', '[?id==`9`]', 1, 0],
  ['csv', '[?id==`9`]', 1, 0],
] as const)(
  'as %s a query of a document that selects %s prints something',
  async (format, expression, lines, length) => {
    const { output, stdout, stderr } = outputOf({ format, query: await compileJmespath(expression) });
    await output.data([{ id: 1 }]);
    expect([stderr.text().split('\n').length - 1, stdout.text().length]).toEqual([lines, length]);
  },
);

describe('a query of a field that does not exist', () => {
  test.each([
    '[].naem',
    "[?naem=='web'].name",
    '[].{n: naem}',
    '[].{naem: naem}',
    '[].[naem]',
    '[0].naem',
    'map(&naem, @)',
  ])(
    'is told on standard error, but with json, whose standard error is empty or one error object: %s',
    async (expression) => {
      for (const format of ['table', 'csv', 'ndjson', 'yaml'] as const) {
        const { output, stderr } = outputOf({ format, query: await compileJmespath(expression) });
        await output.list(droplets, view);
        expect(stderr.text()).toMatch(/"naem".*\bid, name\b/);
        expect(stderr.text().split('\n')).toHaveLength(2);
      }
      const { output, stderr } = outputOf({ format: 'json', query: await compileJmespath(expression) });
      await output.list(droplets, view);
      expect(stderr.text()).toBe('');
    },
  );

  test('keeps standard output as it was', async () => {
    expect(await listed('json', droplets, { query: await compileJmespath('[].naem') })).toBe('[]\n');
    expect(await listed('ndjson', droplets, { query: await compileJmespath('[].naem') }, { lines: 1 })).toBe('');
  });

  test.each([
    ["[?name=='none'].name", droplets],
    ["[?name=='none'].{n: name} | [].n", droplets],
    ['[].{n: name, e: naem}', droplets],
    ['[].naem', []],
    ["[?name=='none'].name || 'none'", droplets],
  ])('is not told of %s, where there is none or something was found', async (expression, rows) => {
    const { output, stderr } = outputOf({ format: 'ndjson', query: await compileJmespath(expression) });
    await output.list(rows, view);
    expect(stderr.text()).toBe('');
  });
});

test('--format picks among the columns of what the query made', async () => {
  const query = await compileJmespath('[].{n: name, i: id}');
  expect(await listed('json', droplets, { query, columns: ['I'] })).toBe(
    '[\n  {\n    "i": 1\n  },\n  {\n    "i": 2\n  }\n]\n',
  );
  await expect(listed('table', droplets, { query, columns: ['Name'] })).rejects.toMatchObject({
    code: 'query_failed',
    exitCode: 1,
    detail: expect.stringContaining('n, i'),
  });
});

test('--format picks among the known columns of rows that the query only chose', async () => {
  const query = await compileJmespath("[?name=='db']");
  expect(await listed('table', droplets, { query, columns: ['status'] })).toBe('Status\noff\n');
});

test('notes go to stderr, and nowhere with --quiet; warnings always', async () => {
  const { output, stdout, stderr } = outputOf({ format: 'json' });
  await output.note('hello\u001b[2J');
  await output.warn('careful');
  expect([stdout.text(), stderr.text()]).toEqual(['', 'hello\nwarning: careful\n']);
  const silent = outputOf({ format: 'json', quiet: true });
  await silent.output.note('hello');
  await silent.output.warn('careful');
  expect(silent.stderr.text()).toBe('warning: careful\n');
});

test('a note keeps 4,000 characters, or as many as the caller allows', async () => {
  const { output, stderr } = outputOf({ format: 'json' });
  const long = 'x'.repeat(5_000);
  await output.note(long);
  expect(stderr.text()).toHaveLength(4_001);
  await output.note(long, maxTextLength);
  expect(stderr.text()).toHaveLength(4_001 + 5_001);
});

test('text goes to stdout as it is, with one newline at its end', async () => {
  const { output, stdout } = outputOf({ format: 'json' });
  await output.text('a');
  await output.text('b\n');
  expect(stdout.text()).toBe('a\nb\n');
});

test.each([
  ['table', 'error: m\nhint: h\n'],
  ['csv', 'error: m\nhint: h\n'],
  ['json', '{"error":{"code":"usage","message":"m","hint":"h","exit_code":2}}\n'],
  ['ndjson', '{"error":{"code":"usage","message":"m","hint":"h","exit_code":2}}\n'],
] as const)('an error beside %s', async (format, expected) => {
  const { output, stdout, stderr } = outputOf({ format });
  await output.error(usageError('m', 'h'));
  expect([stdout.text(), stderr.text()]).toEqual(['', expected]);
});

test.each([
  ['table', '{\n  "a": [\n    "x\\u009b"\n  ]\n}\n'],
  ['json', '{\n  "a": [\n    "x\\u009b"\n  ]\n}\n'],
  ['ndjson', '{"a":["x\\u009b"]}\n'],
  ['csv', 'a\n"[""x\u009b""]"\n'],
  ['yaml', 'a:\n  - "x\\u009b"\n'],
] as const)('data of unknown shape as %s', async (format, expected) => {
  const { output, stdout } = outputOf({ format });
  await output.data({ a: ['x\u009b'] });
  expect(stdout.text()).toBe(expected);
});

test('data of unknown shape is a table once a query or columns give it one', async () => {
  const data = { droplets: [{ id: 1, name: 'web' }] };
  const queried = outputOf({ format: 'table', query: await compileJmespath('droplets') });
  await queried.output.data(data);
  expect(queried.stdout.text()).toBe('id  name\n1   web\n');
  const picked = outputOf({ format: 'table', columns: ['name'] });
  await picked.output.data(data.droplets);
  expect(picked.stdout.text()).toBe('name\nweb\n');
  const empty = outputOf({ format: 'csv' });
  await empty.output.data([]);
  expect(empty.stdout.text()).toBe('');
});

test.each([
  "[?status=='off']",
  "[?status=='off'] | [:1]",
  "sort_by([?status=='off'], &name)",
  "reverse([?status=='off'])",
  "[?status=='off'].{n: name, more: more}",
  "[?status=='off'].{n: name} | [?n]",
  "[].{n: name, s: status} | [?s=='off'] | [:1]",
  "[?status=='off'].more[].{n: deep}",
  "let $off = 'off' in [?status==$off].{n: name}",
])('the header does not depend on whether a row is found by %s', async (expression) => {
  const query = await compileJmespath(expression);
  for (const format of ['table', 'csv'] as const) {
    const some = [...droplets, { id: 3, name: 'x', status: 'off', more: [{ deep: 1 }] }];
    const none = some.filter(({ status }) => status !== 'off');
    const [full, empty] = [await listed(format, some, { query }), await listed(format, none, { query })];
    const header = (text: string): string | undefined => text.split('\n')[0]?.replaceAll(/ +/g, ' ');
    expect(full.split('\n').length).toBeGreaterThan(2);
    expect(empty.split('\n')).toHaveLength(2);
    expect(header(empty)).toBe(header(full));
  }
});

test.each([
  "[?status=='none'].name",
  "[?status=='none'].[id, name]",
  "[?status=='none'].more.deep",
  "[?status=='none'].{n: name} | [].n",
  "sort([?status=='none'].name)",
  "map(&name, [?status=='none'])",
  '[].more.deep[0]',
])('nothing is printed when no value is found by %s', async (expression) => {
  const query = await compileJmespath(expression);
  const plain = droplets.map(({ id, name, status }) => ({ id, name, status }));
  for (const format of ['table', 'csv'] as const) expect(await listed(format, plain, { query }, { lines: 1 })).toBe('');
});

test('a query of a document prints the header of a result without rows', async () => {
  const { output, stdout } = outputOf({ format: 'csv', query: await compileJmespath('droplets[?id==`9`].{n: name}') });
  await output.data({ droplets });
  expect(stdout.text()).toBe('n\n');
});

test('columns of a query that found nothing are not called unknown', async () => {
  const query = await compileJmespath('[?id==`9`].{n: name}');
  expect(await listed('table', droplets, { query, columns: ['n'] })).toBe('n\n');
  expect(await listed('json', droplets, { query, columns: ['n'] })).toBe('[]\n');
});

test('show() prints with --quiet too, and removes control characters', async () => {
  const { output, stderr, stdout } = outputOf({ format: 'json', quiet: true });
  await output.show('https://auth.example/v1/oauth/authorize?client_id=x\u001b[2J');
  expect([stdout.text(), stderr.text()]).toEqual(['', 'https://auth.example/v1/oauth/authorize?client_id=x\n']);
});

test('ndjson of a query that looks at each row by itself is printed as the rows come', async () => {
  const { output, stdout } = outputOf({ format: 'ndjson', query: await compileJmespath('[].name') });
  const seen: string[] = [];
  const rows = (async function* () {
    for (const row of droplets) {
      yield row;
      seen.push(stdout.text());
    }
  })();
  await output.list(rows, view);
  expect(seen).toEqual(['"web"\n', '"web"\n"db"\n']);
});

test('a query may be of more rows than a call can have arguments', async () => {
  const many = Array.from({ length: 300_000 }, (_, id) => ({ id, name: 'n', status: 'active' }));
  const { output, stdout } = outputOf({ format: 'json', query: await compileJmespath('length(@)') });
  await output.list(many, view);
  expect(stdout.text()).toBe('300000\n');
});

test('columns can be judged before there is anything to list, unless a query makes others', async () => {
  expect(() => outputOf({ format: 'json', columns: ['Nope'] }).output.checkColumns(view)).toThrow(/unknown column/);
  expect(() => outputOf({ format: 'json', columns: ['id'] }).output.checkColumns(view)).not.toThrow();
  const query = await compileJmespath('[].{n: name}');
  expect(() => outputOf({ format: 'json', columns: ['n'], query }).output.checkColumns(view)).not.toThrow();
});
