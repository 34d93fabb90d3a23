import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { globalOptions } from '../../../src/cli/command-table.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Completer, completer } from './shells.ts';

describe('bash', () => {
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
});

describe('zsh', () => {
  describe.skipIf(lacks('zsh'))('zsh', () => {
    let zsh: Completer;
    beforeAll(async () => {
      zsh = await completer('zsh');
    });
    afterAll(() => zsh.close());

    const screen = async (words: string) => (await zsh.offers(`cloudctl ${words}`)).join('\n');

    test('the script has no syntax error', async () => {
      expect(await zsh.check()).toBe('');
    });

    test.each([
      ['', /auth +-- log in and out[\s\S]*droplets +-- compute instances/],
      ['dro', /cloudctl droplets /],
      ['droplets ', /create +-- create droplets\s+list +-- list droplets/],
      ['-o json droplets cr', /droplets create /],
      ['-o ', /ndjson +table +yaml +json +csv +-- \w+/],
      ['--output=j', /--output=json/],
      ['-oj', /-ojson/],
      ['-qo c', /-qo csv/],
      ['droplets list --json ', /name +id +--/],
      ['droplets list --json=id,', /--json=id,name/],
      ['droplets list --format ID,S', /--format ID,Status/],
      ['droplets create --if-exists=f', /--if-exists=fail/],
      ['auth switch --profile w', /--profile work/],
      ['droplets --re', /droplets --region /],
      ['droplets create a --if-exists s', /--if-exists skip/],
      ['droplets create --nam', /--names +-- more names\s+--names-from +-- a file of names/],
      ['droplets create --names-from nam', /names\\ one\.txt/],
      ['completion ', /bash +fish +powershell +zsh/],
    ])('after %j the screen shows %s', async (words, expected) => {
      expect(await screen(words)).toMatch(expected);
    });

    test("profiles' names are offered, and none of them is run", async () => {
      expect(await screen('auth switch ')).toMatch(/home\s+work/);
      expect(existsSync(join(zsh.folder, 'owned'))).toBe(false);
    });

    test('a hostile name is inserted quoted', async () => {
      expect(await screen('auth switch \\$')).toContain('\\$\\(touch\\ ');
      expect(existsSync(join(zsh.folder, 'owned'))).toBe(false);
    });
  });
});

describe('fish', () => {
  const outputDescription = globalOptions.find(({ name }) => name === 'output')?.description;

  describe.skipIf(lacks('fish'))('fish', () => {
    let fish: Completer;
    beforeAll(async () => {
      fish = await completer('fish');
    });
    afterAll(() => fish.close());

    test('the script has no syntax error', async () => {
      expect(await fish.check()).toBe('');
    });

    test.each([
      ['dro', ['droplets\tcompute instances']],
      ['droplets ', ['create\tcreate droplets', 'list\tlist droplets']],
      ['droplets web ', []],
      ['-o json droplets cr', ['create\tcreate droplets']],
      ['--output=j', [`--output=json\t${outputDescription}`]],
      ['-oj', [`-ojson\t${outputDescription}`]],
      ['-qo c', [`csv\t${outputDescription}`]],
      ['droplets create --if-exists=f', ['--if-exists=fail\twhen the name is taken']],
      ['droplets --re', ['--region\tin one region']],
      ['droplets create --if', ['--if-exists\twhen the name is taken']],
      ['droplets create a --if-exists s', ['skip\twhen the name is taken']],
      ['db --if', []],
      ['completion ', ['bash', 'fish', 'powershell', 'zsh']],
      ['droplets create --names-from nam', ['names one.txt']],
    ])('after %j it offers %j', async (words, expected) => {
      const offered = await fish.offers(`cloudctl ${words}`);
      // Newer versions quote a blank in a file's name.
      expect(offered.map((line) => line.replaceAll('\\', ''))).toEqual(expected);
    });

    test("profiles' names are offered, and none of them is run", async () => {
      expect([...(await fish.offers('cloudctl auth switch '))].sort()).toEqual([
        expect.stringContaining('touch'),
        'home',
        'work',
      ]);
      expect(existsSync(join(fish.folder, 'owned'))).toBe(false);
    });

    test.each([
      ['droplets list --json ', ['id', 'name']],
      ['droplets list --json=id,', ['--json=id,name']],
      ['droplets list --format=ID,S', ['--format=ID,Status']],
      ['auth switch --profile w', ['work']],
    ])('values of an option after %j are %j', async (words, expected) => {
      expect((await fish.offers(`cloudctl ${words}`)).map((line) => line.replace(/\t.*/, ''))).toEqual(expected);
    });

    test('columns are offered after each comma', async () => {
      expect((await fish.offers('cloudctl droplets --format ID,N')).map((line) => line.replace(/\t.*/, ''))).toEqual([
        'ID,Name',
      ]);
    });
  });
});
