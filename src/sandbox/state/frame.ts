import { crc32 } from 'node:zlib';

/** What a file of framed lines holds. */
export interface FrameReading {
  readonly records: readonly string[];
  /** Bytes of the whole lines. */
  readonly sound: number;
  /** Bytes behind them that a crash cut short in the middle of a write. */
  readonly torn: number;
  /** The first line that is neither whole nor torn. */
  readonly damage?: { readonly line: number; readonly what: string };
}

/** One record as a line: the CRC-32 and the length of the JSON in bytes, then the JSON. */
export function encodeFrame(json: string): Buffer {
  const body = Buffer.from(json, 'utf8');
  return Buffer.concat([Buffer.from(`${checksum(body)} ${body.length} `, 'latin1'), body, NEWLINE]);
}

/**
 * Only the end of a file can be torn, because each write waits for the disk before the next begins: fewer bytes than the
 * line says, or zeros where a sector never came. Everything else that does not fit is damage.
 */
export function decodeFrames(bytes: Buffer): FrameReading {
  const records: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const rest = bytes.subarray(at, newline === -1 ? bytes.length : newline);
    const judged = decodeLine(rest, newline !== -1);
    if (typeof judged !== 'string') {
      records.push(judged.json);
      at = newline + 1;
      continue;
    }
    const isLast = newline === -1 || newline === bytes.length - 1;
    const reading = { records, sound: at, torn: bytes.length - at };
    if (isLast && (judged === CUT || rest.includes(0))) return reading;
    return { ...reading, torn: 0, damage: { line: records.length + 1, what: judged } };
  }
  return { records, sound: at, torn: 0 };
}

/** The record of a line, or what is wrong with it. */
function decodeLine(line: Buffer, isEnded: boolean): { readonly json: string } | string {
  const [head, sum, length] = /^([0-9a-f]{8}) (\d{1,10}) /.exec(line.subarray(0, 20).toString('latin1')) ?? [];
  if (head === undefined) return !isEnded && isStartOfHead(line) ? CUT : 'it does not begin as a line of the sandbox';
  const body = line.subarray(head.length);
  if (!isEnded && body.length <= Number(length)) return CUT;
  if (body.length !== Number(length)) return `it has ${body.length} bytes where it says ${length}`;
  return checksum(body) === sum ? { json: body.toString('utf8') } : 'its checksum does not fit';
}

function isStartOfHead(line: Buffer): boolean {
  return line.length < 20 && /^[0-9a-f]{0,8}$|^[0-9a-f]{8} \d{0,10}$/.test(line.toString('latin1'));
}

function checksum(body: Buffer): string {
  return crc32(body).toString(16).padStart(8, '0');
}

const NEWLINE = Buffer.from('\n');
const CUT = 'cut';
