import { expect, test } from 'vitest';
import { commandTree } from '../../src/commands/index.ts';
import { similarToolCommandReplacements, topLevelCommandAliases } from '../../src/help-topics/similar-tools.ts';

test('an alias names a command that exists, and neither hides one', () => {
  for (const name of Object.values(topLevelCommandAliases)) expect(Object.keys(commandTree)).toContain(name);
  const words = [...Object.keys(topLevelCommandAliases), ...Object.keys(similarToolCommandReplacements)];
  expect(words.filter((word) => Object.hasOwn(commandTree, word))).toEqual([]);
  expect(new Set(words).size).toBe(words.length);
});

test('a replacement begins with words of the command tree', () => {
  for (const line of Object.values(similarToolCommandReplacements)) {
    const [program, word = ''] = /cloudctl.*/.exec(line)?.[0].split(' ') ?? [];
    expect(program).toBe('cloudctl');
    expect(Object.keys(commandTree)).toContain(word);
  }
});
