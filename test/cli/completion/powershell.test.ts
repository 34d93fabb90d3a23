import { expect, test } from 'vitest';
import { powershellScript } from '../../../src/cli/completion/powershell.ts';
import { testScript } from './shells.ts';

/** The brackets that are open outside strings and comments; PowerShell doubles a quote within quotes. */
function openBrackets(script: string): string {
  const bare = script
    .replace(/#.*$/gm, '')
    .replace(/'(?:[^']|'')*'/g, "''")
    .replace(/"(?:[^"`]|`.)*"/g, '""');
  let left = bare.replace(/[^()[\]{}]/g, '');
  for (let before = ''; before !== left; ) {
    before = left;
    left = left.replace(/\(\)|\[\]|\{\}/g, '');
  }
  return left;
}

test('every bracket is closed', async () => {
  expect(openBrackets(await testScript('powershell'))).toBe('');
});

test('every command is a level with its commands, options and arguments', async () => {
  const script = await testScript('powershell');
  const levels = [...script.matchAll(/^ {4}'(\/[^']*)' = @\{$/gm)].map(([, path]) => path);
  expect(levels).toEqual([
    '/',
    '/auth',
    '/auth/status',
    '/auth/switch',
    '/actions',
    '/actions/list',
    '/droplets',
    '/droplets/list',
    '/droplets/create',
    '/db',
    '/db/migrate',
    '/completion',
  ]);
  expect(script).toContain("Commands = [ordered]@{ 'list' = 'list droplets'; 'create' = 'create droplets' }");
  expect(script).toContain("'--names-from' = @{ Text = 'a file of names'; Value = @{ Kind = 'file' } }");
  expect(script).toContain(
    "Places = @(@{ Variadic = $false; Value = @{ Kind = 'words'; Words = @('bash', 'zsh', 'fish', 'powershell') } })",
  );
});

test('a quote in a text does not end it', () => {
  const command = { name: 'x', summary: "it's $(evil)", arguments: [], options: [], children: [] };
  const script = powershellScript('cloudctl', [{ path: '/', commands: [command], options: [], places: [] }]);
  expect(script).toContain("'x' = 'it''s $(evil)'");
  expect(openBrackets(script)).toBe('');
});
