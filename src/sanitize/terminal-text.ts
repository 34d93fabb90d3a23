import { replaceUnprintable, unprintableCharacters } from './unprintable-characters.ts';

/**
 * Text of a server, a URL or a file must not control the terminal: control characters and escape sequences change its state,
 * and directional or invisible characters make one text look like another.
 */
const escapeSequences =
  // CSI, then the string sequences (OSC, DCS, PM, APC, SOS) with their text, then the two-character ones.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\r\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu;
const lineBreaks = /[\t\n\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const lineBreaksExceptNewline = /[\t\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const controlCharacters = /[\u0000-\u0009\u000b-\u001f]/gu;
const loneSurrogates = /\p{Surrogate}/gu;
/** A stack of marks covers the lines around it. No script needs more than eight on one character. */
const tooManyMarks = /(\p{Mark}{8})\p{Mark}+/gu;
const printableAscii = /^[ -~]*$/;

/** One printable line of at most `max` characters, for a terminal, a log or a comment in a script. Line breaks and tabs become a space. */
export function sanitizeLine(text: string, max = 300): string {
  if (printableAscii.test(text)) return truncate(text.trim(), max);
  return truncate(stripUnsafe(text.replace(/\r\n/g, '\n'), lineBreaks).replaceAll('\n', ' ').trim(), max);
}

/**
 * The same for a report or a statement that names objects of a server. What cannot be printed becomes U+FFFD: if it were
 * removed, the name of one object could be printed as the name of another.
 */
export function sanitizeReportLine(text: string, max = 10_000): string {
  return sanitizeLine(printableAscii.test(text) ? text : replaceUnprintable(text.replace(lineBreaks, ' ')), max);
}

/** Printable text of at most `max` characters, which keeps its line breaks. Only for text whose lines the program wrote itself. */
export function sanitizeLines(text: string, max = 4000): string {
  return truncate(stripUnsafe(text.replace(/\r\n/g, '\n'), lineBreaksExceptNewline).trimEnd(), max);
}

/** Indents the second and later lines, so that none of them is read as a line of its own, such as `hint: …`. */
export function indentLines(text: string): string {
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

/** Limit, in characters, for text that must be printed whole: longer than any message or report. */
export const maxTextLength = 10_000_000;
