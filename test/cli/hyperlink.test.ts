import { expect, test } from 'vitest';
import { areHyperlinksShown, hyperlink } from '../../src/cli/text.ts';

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
  expect(areHyperlinksShown({ isTTY: true }, env)).toBe(shown);
  expect(areHyperlinksShown({ isTTY: false }, env)).toBe(false);
});
