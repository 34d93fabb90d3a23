import { expect, test } from 'vitest';
import { shells } from '../../src/cli/completion.ts';
import { testScript } from './completion/shells.ts';

test.each(shells)('the script for %s names every command and every option', async (shell) => {
  const script = await testScript(shell);
  for (const word of ['auth', 'status', 'switch', 'actions', 'droplets', 'create', 'db', 'migrate', 'completion']) {
    expect(script).toContain(word);
  }
  for (const option of ['output', 'no-header', 'names-from', 'if-exists', 'region', 'limit', 'help', 'version']) {
    expect(script).toMatch(new RegExp(`(--|-l )${option}\\b`));
  }
  expect(script).toMatch(/^#.*cloudctl\n/);
});

test.each(shells)('the script for %s is the same each time', async (shell) => {
  expect(await testScript(shell)).toBe(await testScript(shell));
});
