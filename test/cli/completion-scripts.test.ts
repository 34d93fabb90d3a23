import { expect, test } from 'vitest';
import { completionScript, completionShells } from '../../src/cli/completion-scripts.ts';

test.each(completionShells)('the script for %s calls __complete of the program, and nothing else of it', (shell) => {
  const script = completionScript(shell, 'cloudctl');
  expect(script).toMatch(/^#.*cloudctl\n/);
  expect(script).toContain('__complete --');
  expect(script).not.toContain('PROGRAM');
  expect(script.split('\n').length).toBeLessThan(45);
});

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

test('every bracket of the PowerShell script is closed', () => {
  expect(openBrackets(completionScript('powershell', 'cloudctl'))).toBe('');
});
