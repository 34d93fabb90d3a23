import { replaceUnprintable, unprintableCharacters } from './unprintable-characters.ts';

/**
 * Text from a server, a URL or a file must not control the terminal: control characters and escape sequences change the state
 * of the terminal, and directional or invisible characters make one text look like another.
 */
const escapeSequences =
  // The pattern matches CSI sequences first, then string sequences (OSC, DCS, PM, APC, SOS) with their text, then two-character
  // escape sequences.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\r\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu;
const lineBreaks = /[\t\n\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const lineBreaksExceptNewline = /[\t\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const controlCharacters = /[\u0000-\u0009\u000b-\u001f]/gu;
const loneSurrogates = /\p{Surrogate}/gu;
/** Many combining marks on one character would cover the lines above and below; no script needs more than eight. */
const tooManyMarks = /(\p{Mark}{8})\p{Mark}+/gu;
const printableAscii = /^[ -~]*$/;

/**
 * Sanitizes text to one printable line of at most `max` characters, for a terminal, a log or a comment in a script. Line breaks
 * and tabs are replaced with a space.
 */
export function sanitizeLine(text: string, max = 300): string {
  if (printableAscii.test(text)) return truncate(text.trim(), max);
  return truncate(stripUnsafe(text.replace(/\r\n/g, '\n'), lineBreaks).replaceAll('\n', ' ').trim(), max);
}

/**
 * Sanitizes text to one printable line for a report or a statement that names objects of a server. Unprintable characters
 * become U+FFFD, because removing them could turn the name of one object into the name of another.
 */
export function sanitizeReportLine(text: string, max = 10_000): string {
  return sanitizeLine(printableAscii.test(text) ? text : replaceUnprintable(text.replace(lineBreaks, ' ')), max);
}

/**
 * Sanitizes text to at most `max` printable characters and keeps its line breaks. The function is only for text in which the
 * program itself wrote the line breaks.
 */
export function sanitizeLines(text: string, max = 4000): string {
  return truncate(stripUnsafe(text.replace(/\r\n/g, '\n'), lineBreaksExceptNewline).trimEnd(), max);
}

/** Indents the second and later lines of a text, so that no line looks like a line of the program, such as `hint: …`. */
export function indentContinuationLines(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function stripUnsafe(text: string, blanks: RegExp): string {
  return text
    .replace(escapeSequences, '')
    .replace(blanks, ' ')
    .replace(controlCharacters, '')
    .replace(loneSurrogates, '\ufffd')
    .replace(unprintableCharacters, '')
    .replace(tooManyMarks, '$1');
}

function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** Maximum length in characters for text that must be printed completely: longer than any message or report. */
export const maxSanitizedTextLength = 10_000_000;
