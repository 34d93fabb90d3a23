import { expect, test } from 'vitest';
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
