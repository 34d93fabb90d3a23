import { expect, test } from 'vitest';
import { shortenInputForError } from '../../src/cli/shorten-input-for-error.ts';

test('of a URL only its scheme and host are repeated', () => {
  expect(shortenInputForError('postgres://user:secret@db.example:5432/app?password=x')).toBe(
    'postgres://db.example:5432…',
  );
  expect(shortenInputForError('https://host/callback?code=abc#access_token=t')).toBe('https://host…');
  expect(shortenInputForError('droplts')).toBe('droplts');
});
