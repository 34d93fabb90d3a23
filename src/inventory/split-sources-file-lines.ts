import { escapeUnprintable } from '../base/sanitize.ts';

/** A line of an inventory that cannot be used, with the reason as a clause that quotes no part of the line. */
export interface BadSourcesFileLine {
  readonly line: number;
  readonly reason: string;
}

/** A line of the inventory that is neither blank nor a comment. */
export interface SourcesFileLine {
  readonly line: number;
  readonly text: string;
}

export interface SourcesFileLines {
  readonly lines: readonly SourcesFileLine[];
  readonly bad: readonly BadSourcesFileLine[];
}

/** Maximum length of a line of the inventory, in bytes. */
export const maxSourcesFileLineBytes = 65_536;

/** Splits the bytes of an inventory into lines. Lines that are too long, not UTF-8, or have control characters are bad. */
export function splitSourcesFileLines(bytes: Uint8Array): SourcesFileLines {
  const lines: SourcesFileLine[] = [];
  const bad: BadSourcesFileLine[] = [];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from);
    const end = newline < 0 ? bytes.length : newline;
    line += 1;
    const part = bytes.subarray(from, end);
    from = end + 1;
    const reason =
      part.length > maxSourcesFileLineBytes ? `is longer than ${maxSourcesFileLineBytes} bytes` : undefined;
    const text = reason === undefined ? decodeLine(decoder, part) : undefined;
    if (text === undefined) bad.push({ line, reason: reason ?? 'is not valid UTF-8' });
    else if (hasUnprintableCharacter(text)) bad.push({ line, reason: 'contains a control character' });
    else if (text !== '' && !text.startsWith('#')) lines.push({ line, text });
  }
  return { lines, bad };
}

/** The fields of a CSV record (RFC 4180) of one line, or why there are none. A line break in a field is not possible. */
export function parseSourcesFileLineFields(text: string): readonly string[] | { readonly reason: string } {
  const fields: string[] = [];
  for (let at = 0; ; ) {
    if (text[at] === '"') {
      const quoted = /"((?:[^"]|"")*)"/y;
      quoted.lastIndex = at;
      const found = quoted.exec(text);
      if (found === null) return { reason: 'has a quoted field without an end; a field ends on its line' };
      fields.push(found[1]!.replaceAll('""', '"'));
      at = quoted.lastIndex;
      if (at < text.length && text[at] !== ',')
        return { reason: 'has characters between a quoted field and the comma' };
    } else {
      const comma = text.indexOf(',', at);
      const end = comma < 0 ? text.length : comma;
      const field = text.slice(at, end);
      if (field.includes('"')) return { reason: 'has a quotation mark inside a field without quotes' };
      fields.push(field.trim());
      at = end;
    }
    if (at >= text.length) return fields;
    at += 1;
  }
}

function decodeLine(decoder: InstanceType<typeof TextDecoder>, part: Uint8Array): string | undefined {
  try {
    // A byte order mark at the beginning of the file is removed by the decoder.
    return decoder.decode(part).trim();
  } catch {
    return undefined;
  }
}

/** Characters that a terminal or a report could not show as they are. */
function hasUnprintableCharacter(text: string): boolean {
  const shown = text.replaceAll('\t', ' ');
  return escapeUnprintable(shown) !== shown || /\p{Cc}/u.test(shown);
}
