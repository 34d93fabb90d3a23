import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { type Completer, completer } from './shells.ts';

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
