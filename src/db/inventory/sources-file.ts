import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { CliError, usageError } from '../../base/errors.ts';
import { escapeUnprintable, sanitizeLine } from '../../base/sanitize.ts';
import { readAnyFile } from '../../cli/user-file.ts';
import type { HostSystem } from '../../platform/host.ts';
import { buildEntry, type Cells, csvColumns, type Entry, type EntryInput } from './entry.ts';

export interface SourcesFile {
  readonly bytes: Uint8Array;
  /** Why a password in a URL of the file is refused; undefined if it is permitted. */
  readonly passwordRefusal: string | undefined;
  /** Why a password command in the file is refused; undefined if it is permitted. */
  readonly commandRefusal: string | undefined;
}

/** Maximum size of an inventory file in bytes. */
const maxInventoryBytes = 32 * 1024 * 1024;

/** Reads the file, or standard input for `-`. Throws a CliError (usage). */
export async function readSourcesFile(path: string, host: HostSystem): Promise<SourcesFile> {
  return path === '-' ? readStandardInput(host) : readFile(path, host.platform);
}

async function readStandardInput({ stdin }: HostSystem): Promise<SourcesFile> {
  if (stdin.isTTY === true)
    throw usageError(
      'standard input is a terminal',
      'pipe the list of sources, as in `cloudctl db inventory - < sources.txt`',
    );
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > maxInventoryBytes) throw tooLarge('standard input');
    chunks.push(bytes);
  }
  return {
    bytes: Buffer.concat(chunks),
    passwordRefusal: undefined,
    // It is unknown who wrote to standard input, and a password command would run with the permissions of this user.
    commandRefusal: 'password_command is read only from a file, not from standard input',
  };
}

function readFile(path: string, platform: NodeJS.Platform): SourcesFile {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK the program would wait for a writer of a named pipe.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(descriptor);
    if (found.isFIFO()) return readPipe(path);
    if (!found.isFile()) throw usageError(`could not read ${path}: it is not a regular file`, useFile);
    if (found.size > maxInventoryBytes) throw tooLarge(path);
    const isWindows = platform === 'win32';
    const isOwn = isWindows || found.uid === process.getuid?.() || found.uid === 0;
    return {
      bytes: readFileSync(descriptor),
      passwordRefusal:
        isWindows || (found.mode & 0o077) === 0
          ? undefined
          : 'the URL has a password, and other users can access the file (chmod 600)',
      commandRefusal:
        isOwn && (isWindows || (found.mode & 0o022) === 0)
          ? undefined
          : 'password_command is used only if no other user can write the file (chmod go-w)',
    };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw usageError(`could not read ${path}: ${error.message}`, useFile);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** A pipe, such as `<(command)` of a shell, whose end is awaited. Who wrote to it is as unknown as for standard input. */
function readPipe(path: string): SourcesFile {
  const bytes = readAnyFile(path, maxInventoryBytes);
  if (bytes.length > maxInventoryBytes) throw tooLarge(path);
  return {
    bytes,
    passwordRefusal: undefined,
    commandRefusal: 'password_command is read only from a file, not from a pipe',
  };
}

const useFile = 'give a file that you have permission to read, or `-` for standard input';

function tooLarge(what: string): CliError {
  return usageError(`${what} is larger than ${maxInventoryBytes / 1024 / 1024} MiB`, 'split the list of sources');
}

/** A line of an inventory that cannot be used, with the reason as a clause that quotes no part of the line. */
export interface BadLine {
  readonly line: number;
  readonly reason: string;
}

/** A line of the inventory that is neither blank nor a comment. */
export interface Line {
  readonly line: number;
  readonly text: string;
}

export interface Lines {
  readonly lines: readonly Line[];
  readonly bad: readonly BadLine[];
}

/** Maximum length of a line of the inventory, in bytes. */
export const maxLineBytes = 65_536;

/** Splits the bytes of an inventory into lines. Lines that are too long, not UTF-8, or have control characters are bad. */
export function splitLines(bytes: Uint8Array): Lines {
  const lines: Line[] = [];
  const bad: BadLine[] = [];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from);
    const end = newline < 0 ? bytes.length : newline;
    line += 1;
    const part = bytes.subarray(from, end);
    from = end + 1;
    const reason = part.length > maxLineBytes ? `is longer than ${maxLineBytes} bytes` : undefined;
    const text = reason === undefined ? decodeLine(decoder, part) : undefined;
    if (text === undefined) bad.push({ line, reason: reason ?? 'is not valid UTF-8' });
    else if (hasUnprintableCharacter(text)) bad.push({ line, reason: 'contains a control character' });
    else if (text !== '' && !text.startsWith('#')) lines.push({ line, text });
  }
  return { lines, bad };
}

/** The fields of a CSV record (RFC 4180) of one line, or why there are none. A line break in a field is not possible. */
export function parseFields(text: string): readonly string[] | { readonly reason: string } {
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

export interface ParsedSources {
  readonly entries: readonly Entry[];
  /** The invalid lines, in the order of the file. */
  readonly bad: readonly BadLine[];
}

/**
 * Parses an inventory: a URL or a service name on each line, or CSV with a header. Opens no connection. Every line that
 * cannot be used is in `bad`.
 */
export function parseSources(bytes: Uint8Array, input: EntryInput): ParsedSources {
  const { lines, bad } = splitLines(bytes);
  const cells: (readonly [number, Cells])[] = [];
  const found: BadLine[] = [...bad];
  const [first, ...rest] = lines;
  const header = first === undefined ? undefined : readHeader(first);
  if (header === undefined) cells.push(...lines.map((one) => [one.line, cellsOfLine(one)] as const));
  else if ('reason' in header) found.push({ line: first?.line ?? 1, reason: header.reason });
  else
    for (const { line, text } of rest) {
      const record = cellsOfRecord(header.columns, text);
      if ('reason' in record) found.push({ line, reason: record.reason });
      else cells.push([line, record.cells]);
    }
  const entries = buildEntries(cells, input, found);
  return { entries, bad: found.sort((a, b) => a.line - b.line) };
}

/** Builds an entry for each line; a line that is invalid, or has the name of an earlier line, is added to `bad`. */
function buildEntries(
  all: readonly (readonly [line: number, cells: Cells])[],
  input: EntryInput,
  bad: BadLine[],
): readonly Entry[] {
  const lineOfName = new Map<string, number>();
  return all.flatMap(([line, cells]) => {
    try {
      const entry = buildEntry(cells, line, input);
      const earlier = lineOfName.get(entry.name);
      if (earlier !== undefined) {
        bad.push({ line, reason: `has the same source or name as line ${earlier}` });
        return [];
      }
      lineOfName.set(entry.name, line);
      return [entry];
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // The parser of the URL names the option of a single source.
      bad.push({ line, reason: sanitizeLine(error.message).replaceAll('--source', 'the URL') });
      return [];
    }
  });
}

function cellsOfLine({ text }: Line): Cells {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? { url: text } : { service: text };
}

type Header = { readonly columns: readonly string[] } | { readonly reason: string };

/** A first line is a header if it names a column of a source; undefined for a list of URLs and services. */
function readHeader({ text }: Line): Header | undefined {
  if (text.includes('://')) return undefined;
  const record = parseFields(text);
  if ('reason' in record) return undefined;
  const columns = record.map((name) => name.toLowerCase());
  if (!columns.some((name) => ['url', 'service', 'host'].includes(name))) {
    return columns.length === 1 ? undefined : { reason: 'is a header without the column url, service or host' };
  }
  if (columns.includes('password'))
    return { reason: 'has the column password: use .pgpass, PGPASSWORD or password_command' };
  const known = new Set(csvColumns.map(({ name }) => name));
  const position = columns.findIndex((name) => !known.has(name));
  if (position >= 0)
    return { reason: `has an unknown column (number ${position + 1}); known are ${[...known].join(', ')}` };
  const repeated = columns.find((name, at) => columns.indexOf(name) !== at);
  return repeated === undefined ? { columns } : { reason: `has the column ${repeated} twice` };
}

function cellsOfRecord(
  columns: readonly string[],
  text: string,
): { readonly cells: Cells } | { readonly reason: string } {
  const fields = parseFields(text);
  if ('reason' in fields) return fields;
  if (fields.length !== columns.length)
    return { reason: `has ${fields.length} fields, and the header has ${columns.length}` };
  return {
    cells: Object.fromEntries(columns.flatMap((name, at) => (fields[at] === '' ? [] : [[name, fields[at]!]]))),
  };
}
