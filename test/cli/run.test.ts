import { expect, test } from 'vitest';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { run } from './tree.ts';

test('the typed command runs with its arguments, and no other is loaded', async () => {
  const { ran, loaded, exitCode } = await run('droplets create a b --names c,d --set x=1 --set y=[1,2] --wait');
  expect(exitCode).toBe(0);
  expect(ran?.command).toBe('droplets create');
  expect(loaded).toEqual(['droplets create']);
  expect(ran?.words.positionals).toEqual(['a', 'b']);
  expect(ran?.words.values('names')).toEqual(['c', 'd']);
  expect(ran?.words.values('set')).toEqual(['x=1', 'y=[1,2]']);
  expect(ran?.words.has('wait')).toBe(true);
});

test.each([
  '-o json -q droplets list',
  'droplets -o json list -q',
  'droplets list -q -o json',
  'droplets list -qo json',
  'droplets list -qojson',
  'droplets --output=json -q',
])('global options are known before and after the subcommand: %s', async (line) => {
  const { ran } = await run(line);
  expect(ran?.command).toBe('droplets list');
  expect([ran?.globals.value('output'), ran?.globals.has('quiet')]).toEqual(['json', true]);
});

test('the last value of a repeated option counts, wherever it is', async () => {
  const { ran } = await run('-o yaml droplets -o csv list -o json');
  expect(ran?.globals.value('output')).toBe('json');
});

test('the columns of --format add up', async () => {
  const { ran } = await run('droplets --format a,b list --format c');
  expect(ran?.globals.values('format')).toEqual(['a', 'b', 'c']);
});

test('the context is created only for valid arguments', async () => {
  const { ran, error, stdout } = await run('droplets list --nope');
  expect([ran, stdout, error?.exitCode]).toEqual([undefined, '', 2]);
});

test.each(['--version', '-V', 'droplets -V', '-o json --version', 'version', '-q version'])(
  '%s prints the version',
  async (line) => {
    expect(await run(line)).toMatchObject({ exitCode: 0, stdout: '1.2.3\n', loaded: [] });
  },
);

test.each(['', '-h', '--help', 'help', 'auth', 'db', 'droplets --help', '-q', '--no-color help db'])(
  '%j prints help on stdout and is no error',
  async (line) => {
    const { exitCode, stdout, loaded } = await run(line);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Usage:\n  cloudctl');
    expect(loaded).toEqual([]);
  },
);

test('help has colour on a terminal only', async () => {
  expect((await run('--help', { columns: 80 })).stdout).toContain('\u001b[1mUsage:\u001b[22m');
  expect((await run('--help --no-color', { columns: 80 })).stdout).not.toContain('\u001b');
  expect((await run('--help')).stdout).not.toContain('\u001b');
});

test.each(['help output', '--no-color help output', 'help --no-color output', '-o json help output'])(
  '%s prints the page of the topic',
  async (line) => {
    const { exitCode, stdout, error } = await run(line);
    expect([exitCode, stdout, error]).toEqual([0, 'Every format.\n', undefined]);
  },
);

test.each(['', '-q', '-o json', '--'])('%j runs the overview of a program that has one', async (line) => {
  const { ran, stdout } = await run(line, { overview: true });
  expect([ran?.command, stdout]).toEqual(['overview', '']);
});

test.each(['--help', '-qh', '-o json -h', 'help', 'auth'])('%s prints help and not the overview', async (line) => {
  const { ran, stdout } = await run(line, { overview: true });
  expect([ran, stdout]).toEqual([undefined, expect.stringContaining('Usage:')]);
});

test.each([
  ['actions', 'actions list', []],
  ['droplets', 'droplets list', []],
  ['droplets web-*', 'droplets list', ['web-*']],
  ['droplets --region nyc3', 'droplets list', []],
  ['droplets test', 'droplets list', ['test']],
  ['droplets -- lst', 'droplets list', ['lst']],
  ['droplets list lst', 'droplets list', ['lst']],
  ['droplets list -- --region', 'droplets list', ['--region']],
  ['droplets list -', 'droplets list', ['-']],
  ['actions --limit -1', 'actions list', []],
])('%s runs %s', async (line, command, args) => {
  const { ran } = await run(line);
  expect([ran?.command, ran?.words.positionals]).toEqual([command, args]);
});

test.each([
  'droplts',
  'db migrat',
  'volumes',
  'droplets lst',
  'droplets ls',
  'droplets creat web-1',
  'droplets delete web-1',
  'actions get',
  'droplets --region nyc3 create x',
  'droplets create --nmes x',
  'droplets --regio x',
  '--outptu json',
  'auth --region x',
  'droplets list -x',
  'droplets create --wait=yes',
  'droplets list -o',
  'droplets list -qo',
  'droplets create --names',
  'droplets create --names -o json',
  'droplets create --names -- x',
  '-o xml droplets',
  '-o jsn droplets',
  'droplets create --if-exists skp',
  'db migrate',
  'db migrate a b',
  'auth status now',
  'completion bsh',
  'auth __proto__',
  'help constructor',
  'droplts --help',
  '',
])('"%s" is a usage error', async (line) => {
  const { error, exitCode, ran, stdout } = await run(line === '' ? [''] : line);
  expect([exitCode, ran, stdout]).toEqual([2, undefined, '']);
  expectGolden('errors', errorText(error));
});

test.each([
  ['droplets create --help', 'cloudctl droplets create [NAME...]'],
  ['droplets create -h', 'cloudctl droplets create [NAME...]'],
  ['--help droplets create', 'cloudctl droplets create [NAME...]'],
  ['help droplets create', 'cloudctl droplets create [NAME...]'],
  ['droplets help create', 'cloudctl droplets create [NAME...]'],
  ['db help migrate', 'cloudctl db migrate CLUSTER_UUID'],
  ['droplets create --bogus --names --help', 'cloudctl droplets create [NAME...]'],
  ['droplets create -o xml --help', 'cloudctl droplets create [NAME...]'],
  ['db migrate --help', 'cloudctl db migrate CLUSTER_UUID'],
  ['droplets --help', 'cloudctl droplets [COMMAND]'],
  ['droplets web-* --help', 'cloudctl droplets [COMMAND]'],
  ['droplets help', 'cloudctl droplets [COMMAND]'],
  ['droplets -qh', 'cloudctl droplets [COMMAND]'],
  ['db --bogus -h', 'cloudctl db COMMAND'],
  ['db help', 'cloudctl db COMMAND'],
  ['help db', 'cloudctl db COMMAND'],
  ['db', 'cloudctl db COMMAND'],
])('%s shows the help of %s', async (line, usage) => {
  const { stdout, exitCode, ran } = await run(line);
  expect([exitCode, ran]).toEqual([0, undefined]);
  expect(stdout).toContain(`Usage:\n  ${usage}`);
});

test('after a double dash --help is an ordinary argument', async () => {
  expect((await run('droplets create -- --help -V')).ran?.words.positionals).toEqual(['--help', '-V']);
});

test('a value may be attached, be empty, begin with a dash or hold equals signs', async () => {
  const { ran } = await run([
    'droplets',
    'create',
    '--names=-o',
    '--set',
    'a=b=c',
    '--names-from',
    '-',
    '--if-exists=skip',
    '--names=',
  ]);
  expect(ran?.words.values('names')).toEqual(['-o', '']);
  expect(ran?.words.values('set')).toEqual(['a=b=c']);
  expect(ran?.words.value('names-from')).toBe('-');
});
