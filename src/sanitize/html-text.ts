import { replaceUnprintable } from './unprintable-characters.ts';

/** One line of text for HTML, between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return escapeHtmlLines(text.replace(/[\t\n]/g, ' '));
}

/** The same with its line breaks, for a script. What a browser does not show, or shows elsewhere, becomes U+FFFD. */
export function escapeHtmlLines(text: string): string {
  return replaceUnprintable(text).replace(/[&<>"']/g, (character) => references[character] ?? '');
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
