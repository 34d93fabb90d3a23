import { expect, test } from 'vitest';
import { completeLine } from '../../src/cli/complete.ts';
import { testNames, testTree } from './tree.ts';

function suggestions(words: readonly string[], loaded: string[] = []): Promise<readonly string[]> {
  const root = { kind: 'group', summary: 'the cloud', children: testTree(loaded) } as const;
  return completeLine(root, words, testNames);
}

const values = async (words: readonly string[]) => (await suggestions(words)).map((line) => line.replace(/\t.*/, ''));

test.each([
  [['dro'], ['droplets']],
  [[''], ['auth', 'actions', 'droplets', 'db', 'completion']],
  [
    ['droplets', ''],
    ['list', 'create'],
  ],
  [['droplets', 'web', ''], []],
  [['droplets', '--', ''], []],
  [['constructor', ''], []],
  [['-o', 'json', 'droplets', 'cr'], ['create']],
])('after %j come the commands %j', async (words, expected) => {
  expect(await values(words)).toEqual(expected);
});

test.each([
  [['droplets', '--re'], ['--region']],
  [['droplets', 'web', 'create', '--if'], []],
  [['droplets', 'create', '--if'], ['--if-exists']],
  [['droplets', 'create', '--', '--if'], []],
  [['--prof'], ['--profile']],
  [['-'], expect.arrayContaining(['-o', '--output', '-h', '--help'])],
])('after %j come the options %j, those of the default command included', async (words, expected) => {
  expect(await values(words)).toEqual(expected);
});

test.each([
  [
    ['-o', ''],
    ['table', 'json', 'ndjson', 'yaml', 'csv'],
  ],
  [['--output', '=', 'j'], ['json']],
  [
    ['--output', '='],
    ['table', 'json', 'ndjson', 'yaml', 'csv'],
  ],
  [['--output=j'], ['--output=json']],
  [['-oj'], ['-ojson']],
  [['-qoj'], ['-qojson']],
  [['-qo', 'c'], ['csv']],
  [['-ojson', 'droplets', 'cr'], ['create']],
  [['-q', 'droplets', 'cr'], ['create']],
  [['-xo', 'c'], ['completion']],
  [
    ['droplets', '--json', ''],
    ['id', 'name'],
  ],
  [['droplets', '--json=id,'], ['--json=id,name']],
  [['droplets', '--json', '=', 'n'], ['name']],
  [['auth', 'status', '--json', ''], []],
  [['--nope=j'], []],
  [['droplets', 'create', 'a', 'b', '--if-exists', 's'], ['skip']],
  [['droplets', 'create', '--names=a', '--if-exists', 's'], ['skip']],
  [['droplets', 'create', '--set', ''], []],
  [['completion', 'b'], ['bash']],
  [['completion', 'bash', ''], []],
  [['--profile', 'h'], ['home']],
  [
    ['auth', 'switch', '""'],
    ['home', 'work'],
  ],
  [['droplets', 'create', '--names-from', 'x'], [':file']],
])('after %j come the values %j', async (words, expected) => {
  expect(await values(words)).toEqual(expected);
});

test('a command and an option have their description, a value that of its option', async () => {
  const { droplets } = testTree();
  expect(await suggestions(['dro'])).toEqual([`droplets\t${droplets?.summary}`]);
  const [flag = ''] = await suggestions(['droplets', 'create', '--if']);
  const [value = ''] = await suggestions(['droplets', 'create', '--if-exists', 's']);
  expect(flag).toMatch(/^--if-exists\t\w/);
  expect(value).toBe(flag.replace('--if-exists', 'skip'));
  expect(await suggestions(['auth', 'switch', 'h'])).toEqual(['home']);
});

test('one command is read at most', async () => {
  const loaded: string[] = [];
  await suggestions(['dro'], loaded);
  expect(loaded).toEqual([]);
  await suggestions(['droplets', 'create', '--names', 'a', '--if'], loaded);
  expect(new Set(loaded)).toEqual(new Set(['droplets create']));
});

test.each([
  [
    ['droplets', '--format', ''],
    ['ID', 'Name', 'Status'],
  ],
  [
    ['droplets', '--format', 'ID,'],
    ['ID,Name', 'ID,Status'],
  ],
  [['droplets', '--format=ID,Na'], ['--format=ID,Name']],
  [['--format', ''], []],
  [['auth', 'status', '--format', ''], []],
])('after %j come the columns %j of the command', async (words, expected) => {
  expect(await values(words)).toEqual(expected);
});

test('names come from the program, which gets the options before the cursor', async () => {
  const asked: unknown[] = [];
  const root = { kind: 'group', summary: 'the cloud', children: testTree() } as const;
  const namesFrom = (from: string, typed: ReadonlyMap<string, string>) => {
    asked.push([from, Object.fromEntries(typed)]);
    return [{ value: 'web-01', description: 'droplet 7' }, { value: 'db' }];
  };
  const words = ['--profile', 'work', 'droplets', '--base-url=http://127.0.0.1', '--region', '=', 'nyc3', ''];
  expect(await completeLine(root, words, namesFrom)).toEqual([
    'list\tlist droplets',
    'create\tcreate droplets',
    'web-01\tdroplet 7',
    'db',
  ]);
  expect(asked).toEqual([['droplet', { profile: 'work', 'base-url': 'http://127.0.0.1', region: 'nyc3' }]]);
});
