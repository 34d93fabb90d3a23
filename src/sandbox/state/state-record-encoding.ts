import { crc32 } from 'node:zlib';
import { damagedSandboxStateError } from './state-error.ts';

/** The decoded content of a file in which each line is one record. */
export interface ExtractedStateFileRecords {
  /** The JSON text of each record that was written completely. */
  readonly records: readonly string[];
  /** The length of all complete records in bytes. */
  readonly validBytes: number;
  /** The number of bytes after the complete records, from a record whose write a crash interrupted. */
  readonly tornBytes: number;
}

/** Encodes one record as a line: CRC-32 of the JSON text, its length in bytes, then the JSON text. */
export function encodeSandboxStateRecord(json: string): Buffer {
  const body = Buffer.from(json, 'utf8');
  return Buffer.concat([Buffer.from(`${checksum(body)} ${body.length} `, 'latin1'), body, Buffer.from('\n')]);
}

/**
 * Decodes every record of a file. Each write is synced before the next one begins, so a crash can leave only the last record
 * incomplete: it is then shorter than its length says, or has zero bytes where a disk sector was not written. Throws a
 * StateError with path and line for any other damage.
 */
export function extractStateFileRecords(path: string, bytes: Buffer): ExtractedStateFileRecords {
  const records: string[] = [];
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf('\n', start);
    const isTerminated = newline !== -1;
    const line = bytes.subarray(start, isTerminated ? newline : bytes.length);
    const json = isTerminated ? decodeFrame(line) : undefined;
    if (json === undefined) {
      const isLast = !isTerminated || newline === bytes.length - 1;
      if (isLast && isTorn(line, isTerminated)) break;
      throw damagedSandboxStateError(path, records.length + 1, 'the record does not match its length and checksum');
    }
    records.push(json);
    start = newline + 1;
  }
  return { records, validBytes: start, tornBytes: bytes.length - start };
}

/** Returns the JSON text of a line; undefined when it does not match the length and checksum of the line. */
function decodeFrame(line: Buffer): string | undefined {
  const header = readHeader(line);
  if (header === undefined) return undefined;
  const body = line.subarray(header.size);
  return body.length === header.length && checksum(body) === header.checksum ? body.toString('utf8') : undefined;
}

function isTorn(line: Buffer, isTerminated: boolean): boolean {
  if (line.includes(0)) return true;
  if (isTerminated) return false;
  const header = readHeader(line);
  if (header === undefined) return /^(?:[0-9a-f]{0,8}|[0-9a-f]{8} \d{0,10})$/.test(line.toString('latin1'));
  return line.length - header.size <= header.length;
}

function readHeader(
  line: Buffer,
): { readonly size: number; readonly checksum: string; readonly length: number } | undefined {
  const match = /^([0-9a-f]{8}) (\d{1,10}) /.exec(line.subarray(0, 20).toString('latin1'));
  if (match === null) return undefined;
  const [header, sum = '', length] = match;
  return { size: header.length, checksum: sum, length: Number(length) };
}

function checksum(body: Buffer): string {
  return crc32(body).toString(16).padStart(8, '0');
}
