import { expect, it } from 'vitest';
import { wrapForTerminal } from '../../src/cli/text.ts';

const words = `  ${'writing transactions '.repeat(8)}`.trimEnd();

it('breaks at spaces within the width, and indents what is continued', async () => {
  const lines = (await wrapForTerminal(words, 40)).split('\n');
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  expect(lines.map((line) => line.trim()).join(' ')).toBe(words.trim());
  expect(lines[0]).toMatch(/^ {2}\S/);
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}\S/);
});

it.each([
  'hint: wait a moment, then run `cloudctl db cutover a b c --source postgres://x --target y`, and look',
  'Next, follow the migration until the target has caught up: cloudctl db watch --source postgres://u@h/d',
])('a command is broken only as a shell accepts it: %s', async (text) => {
  const command = /cloudctl [^`]*/.exec(text)?.[0] ?? '';
  const wrapped = await wrapForTerminal(text, 40);
  const pasted = wrapped.replaceAll(/ \\\n */g, ' ');
  expect(pasted).toContain(command);
  expect(wrapped.split('\n').length).toBeGreaterThan(pasted.split('\n').length);
  for (const line of wrapped.split('\n')) expect(line.length).toBeLessThanOrEqual(46);
});

it('keeps a statement in backquotes on one line', async () => {
  const statement = '`GRANT SELECT ON ALL TABLES IN SCHEMA public, sales TO mover`';
  expect((await wrapForTerminal(`hint: run ${statement} first`, 40)).split('\n')).toContain(`  ${statement}`);
});

it('loses no character', async () => {
  const text = 'hint: an address with a single ` quote, and **more** words than one line of forty has room for';
  expect((await wrapForTerminal(text, 40)).replaceAll(/\n */g, ' ')).toBe(text);
});

it('measures the width that a terminal shows', async () => {
  const wrapped = await wrapForTerminal(`${'データ '.repeat(10)}`.trimEnd(), 32);
  for (const line of wrapped.split('\n')) expect(line.trim().length).toBeLessThanOrEqual(16);
});

it('changes nothing elsewhere', async () => {
  expect(await wrapForTerminal(words, undefined)).toBe(words);
  expect(await wrapForTerminal(words, 10)).toBe(words);
  expect(await wrapForTerminal('short\n\n  text', 40)).toBe('short\n\n  text');
});
