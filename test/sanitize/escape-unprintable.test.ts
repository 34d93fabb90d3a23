import fc from 'fast-check';
import { expect, it } from 'vitest';
import { escapeUnprintable } from '../../src/sanitize/escape-unprintable.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

it.each(Object.entries(hostileTexts))('%s keeps its value in JSON', (_, text) => {
  const escaped = escapeUnprintable(JSON.stringify({ [text]: text }));
  expect(escaped).not.toMatch(rawUnprintable);
  expect(escaped).not.toContain('\n');
  expect(JSON.parse(escaped)).toEqual({ [text]: text });
});

it('any text keeps its value in JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const escaped = escapeUnprintable(JSON.stringify(text));
      expect(JSON.parse(escaped)).toBe(text);
      expect(escaped).not.toMatch(rawUnprintable);
    }),
  );
});
