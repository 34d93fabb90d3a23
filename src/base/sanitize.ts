// Makes text from outside safe to print, with one function for each output: terminal, JSON, HTML, XML, Markdown, spreadsheet.

/**
 * Characters, besides the C0 controls, that are never printed unchanged: DEL and C1 controls, line separators, directional and
 * invisible characters (Unicode TR 36 and TR 39), noncharacters, and halves of a surrogate pair. Zero-width joiners are
 * printed, because emoji and several scripts need them. Every output format removes, replaces or escapes exactly these
 * characters.
 */
export const unprintableCharacters =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}\p{Surrogate}]/gu;

/** C0 control characters except tab and line feed. */
const controlsExceptTabAndNewline = /[\u0000-\u0008\u000b-\u001f]/g;

const printableAscii = /^[ -~]*$/;

/**
 * Replaces each unprintable character with U+FFFD, for text in which removing a character would change one name into another,
 * such as a statement.
 */
export function replaceUnprintable(text: string): string {
  // Most names are ASCII, and V8 takes longer to compile the large patterns than to apply them to short text.
  if (printableAscii.test(text)) return text;
  return text.replace(controlsExceptTabAndNewline, '\ufffd').replace(unprintableCharacters, '\ufffd');
}

/**
 * Text from a server, a URL or a file must not control the terminal: control characters and escape sequences change the state
 * of the terminal, and directional or invisible characters make one text look like another.
 */
export const escapeSequences =
  // The pattern matches CSI sequences first, then string sequences (OSC, DCS, PM, APC, SOS) with their text, then two-character
  // escape sequences.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\r\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu;
const lineBreaks = /[\t\n\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const lineBreaksExceptNewline = /[\t\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const controlsExceptNewline = /[\u0000-\u0009\u000b-\u001f]/gu;
const loneSurrogates = /\p{Surrogate}/gu;
/** Many combining marks on one character would cover the lines above and below; no script needs more than eight. */
const tooManyMarks = /(\p{Mark}{8})\p{Mark}+/gu;

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
export function indentLines(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function stripUnsafe(text: string, blanks: RegExp): string {
  return text
    .replace(escapeSequences, '')
    .replace(blanks, ' ')
    .replace(controlsExceptNewline, '')
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
export const maxTextLength = 10_000_000;

/**
 * Escapes the characters that JSON and YAML do not escape inside double-quoted strings; the data stays the same. The characters
 * U+FFFE and U+FFFF are not allowed in YAML (https://yaml.org/spec/1.2.2/#51-character-set).
 */
export function escapeUnprintable(encoded: string): string {
  return encoded.replace(unprintableCharacters, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

/** Indented JSON for a file or the terminal, with every unprintable character escaped. */
export function printableJson(value: unknown): string {
  return `${escapeUnprintable(JSON.stringify(value, null, 2))}\n`;
}

/** Escapes one line of text for HTML, both between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return escapeHtmlLines(text.replace(/[\t\n]/g, ' '));
}

/**
 * Escapes text for HTML and keeps its line breaks; for displaying a script. Characters that a browser hides or displays at
 * another place become U+FFFD.
 */
export function escapeHtmlLines(text: string): string {
  return replaceUnprintable(text).replace(/[&<>"']/g, (character) => htmlReferences[character] ?? '');
}

const htmlReferences: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that XML 1.0 allows neither literally nor as a reference (https://www.w3.org/TR/xml/#charsets). */
const forbiddenInXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/**
 * Escapes text for XML, both between tags and in attributes in double quotes. Characters that XML forbids become U+FFFD; other
 * characters keep their meaning.
 */
export function escapeXml(text: string): string {
  return text
    .replace(forbiddenInXml, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, xmlReference)
    .replace(unprintableCharacters, xmlReference);
}

function xmlReference(character: string): string {
  return xmlNames[character] ?? `&#${character.codePointAt(0)};`;
}

const xmlNames: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes one line of text for a Markdown paragraph, heading or list item (https://github.github.com/gfm/). */
export function escapeMarkdown(text: string): string {
  return (
    sanitizeReportLine(text, maxTextLength)
      .replace(/[\\*_[\]<>|#`~]|&(?=#?\w+;)/g, '\\$&')
      // At the start of a line, these characters begin a list, a rule or the underline of a heading.
      .replace(/^[-+=](?=[-+= ]|$)/, '\\$&')
      .replace(/^\d+(?=[.)](?: |$))/, '$&\\')
  );
}

/** Creates a Markdown code span of one line, enclosed in more backticks than the text contains in a row. */
export function markdownCode(text: string): string {
  const line = replaceUnprintable(text.replace(/[\t\n]/g, ' '));
  const longest = longestRun(line);
  const fence = '`'.repeat(longest + 1);
  // A Markdown parser removes one space at each end of a code span (CommonMark §6.3), so spaces are added where the text begins and ends
  // with a space.
  return longest === 0 && !/^ .* $/.test(line) && line !== '' ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** Creates a Markdown code span for a table cell, in which `|` must be escaped. */
export function markdownCodeCell(text: string): string {
  return markdownCode(text).replaceAll('|', '\\|');
}

/** Creates a fenced code block. */
export function markdownCodeBlock(body: string, language: string): string {
  const text = replaceUnprintable(body);
  const fence = '`'.repeat(Math.max(2, longestRun(text)) + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

/**
 * Escapes text for a cell of a CSV report: one printable line, with an apostrophe before text that a spreadsheet would run as a
 * formula (https://owasp.org/www-community/attacks/CSV_Injection). A number is not a formula, so it is not changed.
 */
export function spreadsheetCell(text: string): string {
  const line = sanitizeReportLine(text, maxTextLength);
  return /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(line) && !/^[+-]?\d+(?:\.\d+)?$/.test(line) ? `'${line}` : line;
}
