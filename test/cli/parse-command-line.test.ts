import { expect, test } from 'vitest';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { run } from './tree.ts';

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
