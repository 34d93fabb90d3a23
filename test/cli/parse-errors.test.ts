import { expect, test } from 'vitest';
import {
  missingValueError,
  optionValueError,
  positionalsError,
  unknownCommandError,
  unknownOptionError,
} from '../../src/cli/parse-errors.ts';
import { testTree } from './tree.ts';

const path = 'cloudctl x';
const names = { name: 'names', short: 'n', valueName: 'LIST', description: '' };
const kind = { name: 'kind', valueName: 'K', choices: ['fail', 'skip'], description: '' };

test('an unknown command close to a known one suggests it, another points to the help', () => {
  expect(unknownCommandError('cloudctl', 'droplts', testTree())).toMatchObject({
    code: 'usage',
    exitCode: 2,
    message: 'unknown command "droplts" for "cloudctl"',
    hint: 'did you mean `cloudctl droplets`?',
  });
  expect(unknownCommandError('cloudctl', 'volumes', testTree()).hint).toBe('see `cloudctl --help`');
});

test('a command of other programs leads to what does it here', () => {
  const elsewhere = { delete: 'cloudctl api DELETE /v2/droplets/ID' };
  expect(unknownCommandError('cloudctl droplets', 'delete', {}, elsewhere).hint).toBe(
    'use `cloudctl api DELETE /v2/droplets/ID`',
  );
  expect(unknownCommandError('cloudctl droplets', 'constructor', {}, elsewhere).hint).toBe(
    'see `cloudctl droplets --help`',
  );
});

test('a slip in --version and --help is noticed, which no command declares', () => {
  expect(unknownOptionError('cloudctl', '--verison', []).hint).toBe('did you mean `--version`?');
  expect(unknownOptionError('cloudctl', '--hlep', []).hint).toBe('did you mean `--help`?');
});

test('a missing argument is answered with the first example', () => {
  const examples = [{ text: '', command: 'cloudctl x GET' }];
  const spec = { arguments: [{ name: 'METHOD', description: '', required: true }], examples };
  expect(positionalsError(path, spec, [])?.hint).toBe('write it as in `cloudctl x GET`');
});

test.each([
  ['migrate', 'db migrate'],
  ['migrat', 'db migrate'],
  ['switch', 'auth switch'],
  // Two groups have one.
  ['list', undefined],
])('%s without its group means %s', (word, meant) => {
  const hint = meant === undefined ? 'see `cloudctl --help`' : `did you mean \`cloudctl ${meant}\`?`;
  expect(unknownCommandError('cloudctl', word, testTree()).hint).toBe(hint);
});

test('an unknown option is named without its value, which may be a secret', () => {
  expect(unknownOptionError(path, '--client-secret=hunter2', []).message).toBe(
    'unknown option --client-secret for "cloudctl x"',
  );
  expect(unknownOptionError(path, '-phunter2', []).message).toBe('unknown option -p for "cloudctl x"');
  expect(unknownOptionError(path, '--nmes=a', [names]).hint).toBe('did you mean `--names`?');
});

test('a flag with a value says that it takes none', () => {
  expect(unknownOptionError(path, '--wait=yes', [{ name: 'wait', description: '' }]).message).toBe(
    '--wait takes no value',
  );
});

test('a value that looks like an option is refused unless it is attached', () => {
  expect(optionValueError(names, '-o', ['--names', '-o'])).toMatchObject({
    message: '--names needs a value: "-o" looks like an option',
  });
  expect(optionValueError(names, '--output=x', ['--names', '--output=x'])?.message).toContain('"--output" looks');
  for (const argv of [['--names=-o'], ['-n-o']]) expect(optionValueError(names, '-o', argv)).toBeUndefined();
});

test.each(['-', '-1', '-.5', '', 'a'])('%j is a value', (value) => {
  expect(optionValueError(names, value, ['--names', value])).toBeUndefined();
});

test('a missing value names the option and how to write it', () => {
  expect(missingValueError(names)).toMatchObject({
    message: '--names needs a value: nothing follows it',
    hint: 'write `--names LIST`',
  });
});

test('a value outside the choices lists them', () => {
  expect(optionValueError(kind, 'skp', [])).toMatchObject({
    message: 'unknown value "skp" for --kind',
    detail: 'known values: fail, skip',
    hint: 'did you mean `--kind skip`?',
  });
  expect(optionValueError(kind, 'zzz', [])?.hint).toBe('choose one of fail, skip');
  expect(optionValueError({ ...kind, multiple: 'list' }, 'fail,skip', [])).toBeUndefined();
  expect(optionValueError({ ...kind, multiple: 'list' }, 'fail,skop', [])?.message).toContain('"skop"');
});

test('arguments are counted and checked against their choices', () => {
  const spec = {
    arguments: [
      { name: 'METHOD', description: '', required: true, choices: ['GET', 'PUT'] },
      { name: 'PATH', description: '' },
    ],
  };
  expect(positionalsError(path, spec, [])).toMatchObject({
    message: 'missing argument METHOD for "cloudctl x"',
    detail: 'usage: cloudctl x METHOD [PATH] [OPTIONS]',
  });
  expect(positionalsError(path, spec, ['GET', '/a', 'extra'])?.message).toBe(
    'unexpected argument "extra" for "cloudctl x"',
  );
  expect(positionalsError(path, spec, ['GTE'])?.hint).toBe('did you mean `GET`?');
  expect(positionalsError(path, spec, ['GET'])).toBeUndefined();
  expect(positionalsError(path, {}, ['postgres://u:hunter2@h/d'])?.message).not.toContain('hunter2');
});

test('the last argument may take all the words that are left', () => {
  const spec = { arguments: [{ name: 'SHELL', description: '', variadic: true, choices: ['bash', 'zsh'] }] };
  expect(positionalsError(path, spec, ['bash', 'zsh', 'bash'])).toBeUndefined();
  expect(positionalsError(path, spec, ['bash', 'zsh', 'fsh'])?.message).toBe('unknown value "fsh" for SHELL');
});
