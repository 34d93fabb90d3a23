import { expect, test } from 'vitest';
import { mapWordsToReplacementCommand } from '../../src/cli/command.ts';

test('each word has the same replacement', () => {
  expect(mapWordsToReplacementCommand('cloudctl auth list', ['profile', 'profiles'])).toEqual({
    profile: 'cloudctl auth list',
    profiles: 'cloudctl auth list',
  });
});
