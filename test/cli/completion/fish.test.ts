import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { globalOptions } from '../../../src/cli/command-table.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Completer, completer } from './shells.ts';

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
