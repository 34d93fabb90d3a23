/**
 * Text of a server, a URL or a file must not control the terminal: control characters and escape sequences change its state,
 * and directional or invisible characters make one text look like another (Unicode TR 36 and TR 39).
 */
const escapeSequences =
  // CSI, then the string sequences (OSC, DCS, PM, APC, SOS) with their text, then the two-character ones.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\r\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/gu;
const lineBreaks = /[\t\n\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const lineBreaksExceptNewline = /[\t\u000b\u000c\r\u0085\u2028\u2029]+/gu;
const controlCharacters = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/gu;
// Zero-width joiners stay: emoji and several scripts are written with them.
const invisibleCharacters =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const loneSurrogates = /\p{Surrogate}/gu;

/** One printable line of at most `max` characters. Line breaks and tabs become a space. */
export function sanitizeLine(text: string, max = 300): string {
  return truncate(stripUnsafe(text.replace(/\r\n/g, '\n'), lineBreaks).replaceAll('\n', ' ').trim(), max);
}

/** Printable text of at most `max` characters, which keeps its line breaks. */
export function sanitizeLines(text: string, max = 4000): string {
  return truncate(stripUnsafe(text.replace(/\r\n/g, '\n'), lineBreaksExceptNewline).trimEnd(), max);
}

/** User input as an error may quote it: 60 characters at most; only scheme and host of a URL, which may contain a password. */
export function printableInput(word: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#@]*)/i.exec(word);
  return url === null ? sanitizeLine(word, 60) : `${sanitizeLine(`${url[1]}${url[2]}`, 60)}…`;
}

const unprintable =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|\udb40[\udc00-\udc7f]/g;

/**
 * Escapes the characters that JSON and YAML do not escape inside double-quoted strings; the data stays the same. U+FFFE and
 * U+FFFF are not allowed in YAML (https://yaml.org/spec/1.2.2/#51-character-set).
 */
export function escapeUnprintable(encoded: string): string {
  return encoded.replace(unprintable, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}

function stripUnsafe(text: string, blanks: RegExp): string {
  return text
    .replace(escapeSequences, '')
    .replace(blanks, ' ')
    .replace(controlCharacters, '')
    .replace(invisibleCharacters, '')
    .replace(loneSurrogates, '\ufffd');
}

function truncate(text: string, max: number): string {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

/** Limit, in characters, for text that must be printed whole: longer than any message or report. */
export const maxTextLength = 10_000_000;
