import { expect, it } from 'vitest';
import { replaceUnprintable } from '../../src/sanitize/unprintable-characters.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

it.each(Object.entries(hostileTexts))('%s: what is replaced stays visible, and its length stays', (_, text) => {
  const replaced = replaceUnprintable(text);
  expect(replaced.replaceAll('\t', '')).not.toMatch(rawUnprintable);
  expect([...replaced]).toHaveLength([...text].length);
});

it('line feeds, tabs and printable text stay', () => {
  expect(replaceUnprintable('a\tb\nc 👩\u200d💻')).toBe('a\tb\nc 👩\u200d💻');
  expect(replaceUnprintable('pay\u200bpal\u001b')).toBe('pay\ufffdpal\ufffd');
});
