import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { breakShellCommand } from '../../src/cli/text.ts';

test('a command that fits stays as it is', () => {
  expect(breakShellCommand("echo  'a  b'", 20)).toEqual(["echo  'a  b'"]);
});

test('options stay with their values, pipes and && with the command after them', () => {
  expect(breakShellCommand('echo --size s-1vcpu-1gb --image ubuntu | cat && echo done', 30)).toEqual([
    'echo --size s-1vcpu-1gb \\',
    '    --image ubuntu | cat \\',
    '    && echo done',
  ]);
});

test('a redirection stays with its file', () => {
  expect(breakShellCommand('echo one two three --flag < secret.txt', 30)).toEqual([
    'echo one two three \\',
    '    --flag < secret.txt',
  ]);
  expect(breakShellCommand('echo one two three > secret.txt', 30)).toEqual([
    'echo one two three \\',
    '    > secret.txt',
  ]);
});

test.each([
  `printf '%s,' 'a  b c' --from "x y" "$(echo one two three)" -o json 2> /dev/null`,
  `printf '%s,' "it's" --query "length([?a=='b c'])" "tail of the line"`,
  String.raw`printf '%s,' 'it'\''s  one' "say \"two  three\"" four five six seven eight`,
  "seq 3 | printf '%s,' one --two three --four five six seven eight",
])('the shell runs %s as before', (command) => {
  const run = (text: string) => execFileSync('sh', ['-c', text], { encoding: 'utf8' });
  const lines = breakShellCommand(command, 40);
  expect(lines.length).toBeGreaterThan(1);
  expect(run(lines.join('\n'))).toBe(run(command));
});
