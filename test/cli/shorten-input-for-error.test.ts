import { expect, test } from 'vitest';
import { shortenInputForError } from '../../src/cli/values.ts';

test('of a URL only its scheme and host are repeated', () => {
  expect(shortenInputForError('postgres://user:secret@db.example:5432/app?password=x')).toBe(
    'postgres://db.example:5432…',
  );
  expect(shortenInputForError('https://host/callback?code=abc#access_token=t')).toBe('https://host…');
  expect(shortenInputForError('droplts')).toBe('droplts');
});

test.each([
  ['42\r', '42\\r'],
  ['a\u200bb', 'a\\u{200b}b'],
  ['\u001b[31mred', '\\u001b[31mred'],
  ['a\u2028b\u0000', 'a\\u{2028}b\\u0000'],
])('an invisible character is shown: %j', (word, shown) => {
  expect(shortenInputForError(word)).toBe(shown);
});
