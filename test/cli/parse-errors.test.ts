import { expect, test } from 'vitest';
import {
  findPositionalsError,
  findValueError,
  missingValueError,
  unknownCommandError,
  unknownOptionError,
} from '../../src/cli/parse-errors.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testTree } from './tree.ts';

const path = 'cloudctl api';
const names = { name: 'names', short: 'n', valueName: 'LIST', description: '' };
const kind = { name: 'kind', valueName: 'K', choices: ['fail', 'skip'], description: '' };

test('an unknown command close to a known one suggests it, another points to the help', () => {
  const close = unknownCommandError('cloudctl', ['droplts'], testTree());
  expect(close).toMatchObject({ code: 'usage', exitCode: 2 });
  expect(close.hint).toContain('`cloudctl droplets`');
  const other = unknownCommandError('cloudctl', ['volumes'], testTree());
  expect(other.hint).toContain('`cloudctl --help`');
  expectGolden('errors', [close, other].map(errorText).join('\n\n'));
});

test('a command of similar tools leads to its replacement', () => {
  const replacements = { delete: 'cloudctl api DELETE /v2/droplets/ID' };
  const known = unknownCommandError('cloudctl droplets', ['delete'], {}, replacements);
  expect(known.hint).toContain('`cloudctl api DELETE /v2/droplets/ID`');
  expect(unknownCommandError('cloudctl droplets', ['constructor'], {}, replacements).hint).toContain(
    '`cloudctl droplets --help`',
  );
  expectGolden('errors', errorText(known));
});

test('misspelled --version and --help are recognized, which no command declares', () => {
  expect(unknownOptionError('cloudctl', '--verison', []).hint).toContain('`--version`');
  expect(unknownOptionError('cloudctl', '--hlep', []).hint).toContain('`--help`');
});

test('the error of a missing argument shows the first example', () => {
  const examples = [{ text: '', command: 'cloudctl api GET /v2/droplets' }];
  const spec = { arguments: [{ name: 'METHOD', description: '', required: true }], examples };
  const error = findPositionalsError(path, spec, []);
  expect(error?.hint).toContain('`cloudctl api GET /v2/droplets`');
  expectGolden('errors', errorText(error));
});

test.each([
  ['migrate', 'cloudctl db migrate'],
  ['migrat', 'cloudctl db migrate'],
  ['switch', 'cloudctl auth switch'],
  // Two groups have one.
  ['list', 'cloudctl --help'],
])('%s without its group suggests %s', (word, meant) => {
  expect(unknownCommandError('cloudctl', [word], testTree()).hint).toContain(`\`${meant}\``);
});

test('an unknown option is named without its value, which may be a secret', () => {
  const errors = [
    unknownOptionError(path, '--client-secret=hunter2', []),
    unknownOptionError(path, '-phunter2', []),
    unknownOptionError(path, '--nmes=a', [names]),
  ];
  expect(errors.map(({ message }) => message).join()).not.toContain('hunter2');
  expect(errors[2]?.hint).toContain('`--names`');
  expectGolden('errors', errors.map(errorText).join('\n\n'));
});

test('a flag with a value is an error', () => {
  expectGolden('errors', errorText(unknownOptionError(path, '--wait=yes', [{ name: 'wait', description: '' }])));
});

test('a value that begins with a dash is refused unless it is attached', () => {
  const separate = findValueError(names, '-o', ['--names', '-o']);
  const long = findValueError(names, '--output=x', ['--names', '--output=x']);
  expect(long?.message).not.toContain('=x');
  for (const argv of [['--names=-o'], ['-n-o']]) expect(findValueError(names, '-o', argv)).toBeUndefined();
  expectGolden('errors', [separate, long].map(errorText).join('\n\n'));
});

test.each(['-', '-1', '-.5', '', 'a'])('%j is a value', (value) => {
  expect(findValueError(names, value, ['--names', value])).toBeUndefined();
});

test('the error of a missing value names the option and its placeholder', () => {
  const error = missingValueError(names);
  expect(error.hint).toContain('`--names LIST`');
  expectGolden('errors', errorText(error));
});

test('a value that is not among the choices lists or suggests them', () => {
  const close = findValueError(kind, 'skp', []);
  const other = findValueError(kind, 'zzz', []);
  expect(close?.hint).toContain('`--kind skip`');
  expect(findValueError({ ...kind, multiple: 'list' }, 'fail,skip', [])).toBeUndefined();
  expect(findValueError({ ...kind, multiple: 'list' }, 'fail,skop', [])?.message).toContain('"skop"');
  expectGolden('errors', [close, other].map(errorText).join('\n\n'));
});

test('arguments are counted and checked against their choices', () => {
  const spec = {
    arguments: [
      { name: 'METHOD', description: '', required: true, choices: ['GET', 'PUT'] },
      { name: 'PATH', description: '' },
    ],
  };
  const errors = [[], ['GET', '/a', 'extra'], ['GTE']].map((given) => findPositionalsError(path, spec, given));
  expect(findPositionalsError(path, spec, ['GET'])).toBeUndefined();
  expect(findPositionalsError(path, {}, ['postgres://u:hunter2@h/d'])?.message).not.toContain('hunter2');
  expectGolden('errors', errors.map(errorText).join('\n\n'));
});

test('a variadic argument accepts every remaining word that is among its choices', () => {
  const spec = { arguments: [{ name: 'SHELL', description: '', variadic: true, choices: ['bash', 'zsh'] }] };
  expect(findPositionalsError(path, spec, ['bash', 'zsh', 'bash'])).toBeUndefined();
  expect(findPositionalsError(path, spec, ['bash', 'zsh', 'fsh'])).toMatchObject({ code: 'usage' });
});
