import { expect, it } from 'vitest';
import { escapeXml } from '../../src/sanitize/escape-xml.ts';
import { hostileTexts, rawUnprintable } from '../fixtures/hostile-text.ts';

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

it.each(Object.entries(hostileTexts))('%s has its value in XML, as far as XML 1.0 allows it', (_, text) => {
  const xml = escapeXml(text);
  expect(xml).not.toMatch(rawUnprintable);
  expect(xml).not.toMatch(/[<>"\t\n]/);
  const read = xml.replace(/&(?:#(\d+)|(\w+));/g, (_reference, code?: string, name = '') =>
    code === undefined ? (entities[name] ?? '') : String.fromCodePoint(Number(code)),
  );
  expect(read).toBe(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd'));
});
