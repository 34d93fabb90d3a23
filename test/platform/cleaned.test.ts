import { expect, it } from 'vitest';
import { cleaned } from '../../src/platform/cleaned.ts';

it('text of another machine has no control or direction characters, and an end', () => {
  expect(
    cleaned('\u001b]0;title\u0007 red \u001b[31mfox\r\nnext\u2028line \u202efdp.exe\u2066 \u009b1m\u200bend\n'),
  ).toBe(']0;title red [31mfox next line fdp.exe 1m end');
  expect(cleaned('é ✓ 日本')).toBe('é ✓ 日本');
  expect(cleaned('x'.repeat(1000)).length).toBe(300);
});
