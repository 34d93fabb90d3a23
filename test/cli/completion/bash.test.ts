import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { type Completer, completer } from './shells.ts';

describe.skipIf(lacks('bash'))('bash', () => {
  let bash: Completer;
  beforeAll(async () => {
    bash = await completer('bash');
  });
  afterAll(() => bash.close());

  test('the script has no syntax error', async () => {
    expect(await bash.check()).toBe('');
  });

  test.each([
    ['dro', ['droplets']],
    ['', ['auth', 'actions', 'droplets', 'db', 'completion']],
    ['droplets|', ['list', 'create']],
    ['droplets|web|', []],
    ['droplets|web|cr', []],
    ['droplets|web|create|--if', []],
    ['-o', ['-o']],
    ['-o|json|droplets|cr', ['create']],
    ['-o|', ['table', 'json', 'ndjson', 'yaml', 'csv']],
    ['--output|=|j', ['json']],
    ['--output|=', ['table', 'json', 'ndjson', 'yaml', 'csv']],
    ['--output=j', ['--output=json']],
    ['-oj', ['-ojson']],
    ['-qo|c', ['csv']],
    ['droplets|list|--json|', ['id', 'name']],
    ['droplets|--json|=|n', ['name']],
    ['droplets|list|--format|ID,S', ['ID,Status']],
    ['droplets|create|--if-exists|=|f', ['fail']],
    ['auth|switch|--profile|w', ['work']],
    ['droplets|--re', ['--region']],
    ['droplets|create|--if', ['--if-exists']],
    ['droplets|create|a|b|--if-exists|s', ['skip']],
    ['droplets|create|--names=a|--if-exists|s', ['skip']],
    ['droplets|create|--|--if', []],
    ['completion|', ['bash', 'zsh', 'fish', 'powershell']],
    ['completion|bash|', []],
    ['droplets|create|--names-from|names', ['names one.txt']],
    ['--prof', ['--profile']],
    ['--profile|h', ['home']],
    ['auth|list|', []],
  ])('after %j it offers %j', async (words, expected) => {
    expect(await bash.offers('cloudctl', ...words.split('|'))).toEqual(expected);
  });

  test("profiles' names are offered, and none of them is run", async () => {
    expect(await bash.offers('cloudctl', 'auth', 'switch', '')).toEqual([
      'home',
      'work',
      expect.stringContaining('touch'),
    ]);
    expect(existsSync(join(bash.folder, 'owned'))).toBe(false);
  });

  test('a hostile name is inserted quoted: run as a command line, it is one argument', async () => {
    const [word = ''] = await bash.offers('cloudctl', 'auth', 'switch', '\\$\\(');
    const { stdout } = await promisify(execFile)('bash', ['-c', 'eval "set -- $0"; printf "%s\\n" "$@"', word]);
    expect(stdout).toBe(`$(touch ${bash.folder}/owned)\n`);
    expect(existsSync(join(bash.folder, 'owned'))).toBe(false);
    expect(await bash.offers('cloudctl', 'auth', 'switch', '"ho')).toEqual(['home']);
    expect(await bash.offers('cloudctl', '"auth"', 'swi')).toEqual(['switch']);
  });

  test('columns are offered after each comma', async () => {
    expect(await bash.offers('cloudctl', 'droplets', '--format', 'ID,N')).toEqual(['ID,Name']);
  });
});
