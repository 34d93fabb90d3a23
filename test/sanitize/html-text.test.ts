import { expect, it } from 'vitest';
import { escapeHtml, escapeHtmlKeepingLineBreaks } from '../../src/sanitize/html-text.ts';
import { replaceUnprintable } from '../../src/sanitize/unprintable-characters.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

const characters: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

it.each(Object.entries(hostileTexts))('%s is text for a browser, between tags and in attributes', (_, text) => {
  const html = escapeHtml(text);
  expect(html).not.toMatch(rawUnprintable);
  expect(html).not.toMatch(/[<>"']/);
  const shown = html.replace(/&(?:#39|\w+);/g, (reference) => characters[reference] ?? '');
  expect(shown).toBe(replaceUnprintable(text.replace(/[\t\n]/g, ' ')));
});

it('a script keeps its lines', () => {
  expect(escapeHtmlKeepingLineBreaks('a <b>\n\tc\r')).toBe('a &lt;b&gt;\n\tc\ufffd');
});
