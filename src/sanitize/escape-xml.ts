import { unprintableCharacters } from './unprintable-characters.ts';

/** Characters that XML 1.0 allows neither literally nor as a reference (https://www.w3.org/TR/xml/#charsets). */
const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/**
 * Escapes text for XML, both between tags and in attributes in double quotes. Characters that XML forbids become U+FFFD; other
 * characters keep their meaning.
 */
export function escapeXml(text: string): string {
  return text
    .replace(forbidden, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, reference)
    .replace(unprintableCharacters, reference);
}

function reference(character: string): string {
  return names[character] ?? `&#${character.codePointAt(0)};`;
}

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
