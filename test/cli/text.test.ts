import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  breakCommand,
  createMeasurer,
  hyperlink,
  measurerFor,
  showsHyperlinks,
  wrapForTerminal,
  wrapWords,
} from '../../src/cli/text.ts';

describe('lines of words', () => {
  test('lines break between words and are indented', () => {
    expect(wrapWords('one two three four five', 13, 2)).toBe('one two three\n  four five');
  });

  test('a command in backquotes and a long word stay in one line', () => {
    expect(wrapWords('see `a b c d e f`; averyveryverylongword', 10)).toBe(
      'see\n`a b c d e f`;\naveryveryverylongword',
    );
  });

  test('blanks at the start stay', () => {
    expect(wrapWords('  one two', 5, 4)).toBe('  one\n    two');
  });

  test.each(['', 'a', 'a  b', '  a', 'an `open quote'])('a short text stays as it is: %j', (text) => {
    expect(wrapWords(text, 40)).toBe(text);
  });
});

describe('lines of a terminal', () => {
  const words = `  ${'writing transactions '.repeat(8)}`.trimEnd();

  test('breaks at spaces within the width, and indents what is continued', async () => {
    const lines = (await wrapForTerminal(words, 40)).split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
    expect(lines.map((line) => line.trim()).join(' ')).toBe(words.trim());
    expect(lines[0]).toMatch(/^ {2}\S/);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}\S/);
  });

  test.each([
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

  test('keeps a statement in backquotes on one line', async () => {
    const statement = '`GRANT SELECT ON ALL TABLES IN SCHEMA public, sales TO mover`';
    expect((await wrapForTerminal(`hint: run ${statement} first`, 40)).split('\n')).toContain(`  ${statement}`);
  });

  test('loses no character', async () => {
    const text = 'hint: an address with a single ` quote, and **more** words than one line of forty has room for';
    expect((await wrapForTerminal(text, 40)).replaceAll(/\n */g, ' ')).toBe(text);
  });

  test('measures the width that a terminal shows', async () => {
    const wrapped = await wrapForTerminal(`${'データ '.repeat(10)}`.trimEnd(), 32);
    for (const line of wrapped.split('\n')) expect(line.trim().length).toBeLessThanOrEqual(16);
  });

  test('changes nothing elsewhere', async () => {
    expect(await wrapForTerminal(words, undefined)).toBe(words);
    expect(await wrapForTerminal(words, 10)).toBe(words);
    expect(await wrapForTerminal('short\n\n  text', 40)).toBe('short\n\n  text');
  });
});

describe('a shell command on several lines', () => {
  test('a command that fits stays as it is', () => {
    expect(breakCommand("echo  'a  b'", 20)).toEqual(["echo  'a  b'"]);
  });

  test('options stay with their values, pipes and && with the command after them', () => {
    expect(breakCommand('echo --size s-1vcpu-1gb --image ubuntu | cat && echo done', 30)).toEqual([
      'echo --size s-1vcpu-1gb \\',
      '    --image ubuntu | cat \\',
      '    && echo done',
    ]);
  });

  test('a redirection stays with its file', () => {
    expect(breakCommand('echo one two three --flag < secret.txt', 30)).toEqual([
      'echo one two three \\',
      '    --flag < secret.txt',
    ]);
    expect(breakCommand('echo one two three > secret.txt', 30)).toEqual(['echo one two three \\', '    > secret.txt']);
  });

  test.each([
    `printf '%s,' 'a  b c' --from "x y" "$(echo one two three)" -o json 2> /dev/null`,
    `printf '%s,' "it's" --query "length([?a=='b c'])" "tail of the line"`,
    String.raw`printf '%s,' 'it'\''s  one' "say \"two  three\"" four five six seven eight`,
    "seq 3 | printf '%s,' one --two three --four five six seven eight",
  ])('the shell runs %s as before', (command) => {
    const run = (text: string) => execFileSync('sh', ['-c', text], { encoding: 'utf8' });
    const lines = breakCommand(command, 40);
    expect(lines.length).toBeGreaterThan(1);
    expect(run(lines.join('\n'))).toBe(run(command));
  });
});

describe('the width of a text', () => {
  test('wide characters take two cells, combining ones none', async () => {
    const { measure } = await createMeasurer();
    expect([measure('abc'), measure('日本'), measure('e\u0301'), measure('👩‍💻')]).toEqual([3, 4, 1, 2]);
  });

  test('a wide character is not cut in half', async () => {
    const { truncate: shorten } = await createMeasurer();
    expect([
      shorten('日本語', 6),
      shorten('日本語', 5),
      shorten('日本語', 4),
      shorten('日本語', 1),
      shorten('日本語', 0),
    ]).toEqual(['日本語', '日本…', '日…', '…', '']);
  });

  test('what was fitted never takes more than its cells, and what was padded never fewer', async () => {
    const { truncate: shorten, pad, measure } = await createMeasurer();
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, cells) => {
        expect(measure(shorten(text, cells))).toBeLessThanOrEqual(cells);
        expect(measure(pad(text, cells))).toBeGreaterThanOrEqual(cells);
      }),
    );
  });

  test('ASCII is measured, cut and filled as all text is, and other text needs no more than to be told', async () => {
    const all = await createMeasurer();
    const check = async (text: string, cells: number): Promise<void> => {
      const own = await measurerFor([text]);
      expect([own.measure(text), own.truncate(text, cells), own.pad(text, cells)]).toEqual([
        all.measure(text),
        all.truncate(text, cells),
        all.pad(text, cells),
      ]);
      const short = own.truncate(text, cells);
      expect(own.truncate(`${short}  ${text}`, cells)).toBe(all.truncate(`${short}  ${text}`, cells));
    };
    const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 40 });
    const text = fc.oneof(ascii, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
    await fc.assert(fc.asyncProperty(text, fc.nat(30), check));
  });
});

describe('a link of the terminal', () => {
  test('a text leads to its URL', () => {
    expect(hyperlink('web', 'http://127.0.0.1:8080/panel')).toBe(
      '\u001b]8;;http://127.0.0.1:8080/panel\u001b\\web\u001b]8;;\u001b\\',
    );
  });

  test.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://a/\u001b\\x',
    'https://a/\u0007',
    'https://a/é',
    'https://a b',
  ])('%j is not a link', (url) => {
    expect(hyperlink('web', url)).toBe('web');
  });

  test.each([
    [{ VTE_VERSION: '6800' }, true],
    [{ VTE_VERSION: '4900' }, false],
    [{ TERM: 'xterm-kitty' }, true],
    [{ TERM_PROGRAM: 'vscode' }, true],
    [{ WT_SESSION: 'x' }, true],
    [{ TERM: 'xterm-256color' }, false],
    [{}, false],
    [{ TMUX: '/tmp/x', VTE_VERSION: '6800', TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.3a' }, false],
    [{ TMUX: '/tmp/x', TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.4' }, true],
    [{ TERM: 'screen', VTE_VERSION: '6800' }, false],
    [{ TERM: 'dumb', VTE_VERSION: '6800' }, false],
    [{ TERM: 'xterm', FORCE_HYPERLINK: '1' }, true],
    [{ VTE_VERSION: '6800', FORCE_HYPERLINK: '0' }, false],
  ])('%j shows links: %s', (env, shown) => {
    expect(showsHyperlinks({ isTTY: true }, env)).toBe(shown);
    expect(showsHyperlinks({ isTTY: false }, env)).toBe(false);
  });
});
