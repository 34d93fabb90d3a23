import { expect, it } from 'vitest';
import { sanitizeRemoteText } from '../../src/platform/sanitize-remote-text.ts';

it('text of another machine has no control or direction characters, and an end', () => {
  expect(
    sanitizeRemoteText(
      '\u001b]0;title\u0007 red \u001b[31mfox\r\nnext\u2028line \u202efdp.exe\u2066 \u009b1m\u200bend\n',
    ),
  ).toBe(']0;title red [31mfox next line fdp.exe 1m end');
  expect(sanitizeRemoteText('é ✓ 日本')).toBe('é ✓ 日本');
  expect(sanitizeRemoteText('x'.repeat(1000)).length).toBe(300);
});
