import { replaceUnprintable } from './unprintable-characters.ts';

/** Escapes one line of text for HTML, both between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return escapeHtmlKeepingLineBreaks(text.replace(/[\t\n]/g, ' '));
}

/**
 * Escapes text for HTML and keeps its line breaks; for displaying a script. Characters that a browser hides or displays at
 * another place become U+FFFD.
 */
export function escapeHtmlKeepingLineBreaks(text: string): string {
  return replaceUnprintable(text).replace(/[&<>"']/g, (character) => references[character] ?? '');
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
