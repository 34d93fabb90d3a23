import { expect, test } from 'vitest';
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
  ['droplts', 'unknown command "droplts" for "cloudctl"', 'did you mean `cloudctl droplets`?'],
  ['db migrat', 'unknown command "migrat" for "cloudctl db"', 'did you mean `cloudctl db migrate`?'],
  ['volumes', 'unknown command "volumes" for "cloudctl"', 'see `cloudctl --help`'],
  ['droplets lst', 'unknown command "lst" for "cloudctl droplets"', 'did you mean `cloudctl droplets list`?'],
  ['droplets ls', 'unknown command "ls" for "cloudctl droplets"', 'did you mean `cloudctl droplets list`?'],
  [
    'droplets creat web-1',
    'unknown command "creat" for "cloudctl droplets"',
    'did you mean `cloudctl droplets create`?',
  ],
  ['droplets delete web-1', 'unknown command "delete" for "cloudctl droplets"', 'see `cloudctl droplets --help`'],
  ['actions get', 'unknown command "get" for "cloudctl actions"', 'see `cloudctl actions --help`'],
  [
    'droplets --region nyc3 create x',
    '"create" after an option is not taken for a command of "cloudctl droplets"',
    'put the options after the command: `cloudctl droplets create …`',
  ],
  ['droplets create --nmes x', 'unknown option --nmes for "cloudctl droplets create"', 'did you mean `--names`?'],
  ['droplets --regio x', 'unknown option --regio for "cloudctl droplets list"', 'did you mean `--region`?'],
  ['--outptu json', 'unknown option --outptu for "cloudctl"', 'did you mean `--output`?'],
  ['auth --region x', 'unknown option --region for "cloudctl auth"', 'see `cloudctl auth --help`'],
  ['droplets list -x', 'unknown option -x for "cloudctl droplets list"', 'see `cloudctl droplets list --help`'],
  ['droplets create --wait=yes', '--wait takes no value', 'write `--wait` alone'],
  ['droplets list -o', '--output needs a value: nothing follows it', 'write `--output FORMAT`'],
  ['droplets list -qo', '--output needs a value: nothing follows it', 'write `--output FORMAT`'],
  ['droplets create --names', '--names needs a value: nothing follows it', 'write `--names LIST`'],
  [
    'droplets create --names -o json',
    '--names needs a value: "-o" looks like an option',
    'write `--names LIST`, or `--names=LIST` if the value begins with a dash',
  ],
  [
    'droplets create --names -- x',
    '--names needs a value: "--" looks like an option',
    'write `--names LIST`, or `--names=LIST` if the value begins with a dash',
  ],
  ['-o xml droplets', 'unknown value "xml" for --output', 'choose one of table, json, ndjson, yaml, csv'],
  ['-o jsn droplets', 'unknown value "jsn" for --output', 'did you mean `--output json`?'],
  ['droplets create --if-exists skp', 'unknown value "skp" for --if-exists', 'did you mean `--if-exists skip`?'],
  ['db migrate', 'missing argument CLUSTER_UUID for "cloudctl db migrate"', 'see `cloudctl db migrate --help`'],
  ['db migrate a b', 'unexpected argument "b" for "cloudctl db migrate"', 'see `cloudctl db migrate --help`'],
  ['auth status now', 'unexpected argument "now" for "cloudctl auth status"', 'see `cloudctl auth status --help`'],
  ['completion bsh', 'unknown value "bsh" for SHELL', 'did you mean `bash`?'],
  ['auth __proto__', 'unknown command "__proto__" for "cloudctl auth"', 'see `cloudctl auth --help`'],
  ['help constructor', 'unknown command "constructor" for "cloudctl"', 'see `cloudctl --help`'],
  ['droplts --help', 'unknown command "droplts" for "cloudctl"', 'did you mean `cloudctl droplets`?'],
])('%s is a usage error', async (line, message, hint) => {
  const { error, exitCode, ran, stdout } = await run(line);
  expect(error).toMatchObject({ code: 'usage', message, hint });
  expect([exitCode, ran, stdout]).toEqual([2, undefined, '']);
});

test('an empty word is no command', async () => {
  expect((await run([''])).error?.message).toBe('unknown command "" for "cloudctl"');
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

test('after a double dash --help is a word like any other', async () => {
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
