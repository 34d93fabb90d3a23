/**
 * The types of the D-Bus wire format that the Secret Service needs, in little-endian byte order (D-Bus Specification 0.43,
 * "Marshaling").
 */

export interface DbusCall {
  readonly serial: number;
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** `signature` and `body` are both absent for a call without arguments. */
  readonly signature?: string;
  readonly body?: (writer: DbusWriter) => void;
}

export interface DbusReply {
  readonly serial: number;
  /** The name of the D-Bus error; undefined for a successful reply. */
  readonly error: string | undefined;
  readonly signature: string;
  readonly body: DbusReader;
}

export function encodeDbusCall(call: DbusCall): Buffer {
  const body = createWriter();
  call.body?.(body);
  const arguments_ = body.bytes();
  const message = createWriter();
  // The first bytes of a D-Bus message: little-endian, METHOD_CALL, no flags, protocol version 1.
  for (const byte of [0x6c, 1, 0, 1]) message.byte(byte);
  message.uint32(arguments_.length);
  message.uint32(call.serial);
  message.array(8, () => {
    field(message, 1, 'o', call.path);
    field(message, 2, 's', call.interface);
    field(message, 3, 's', call.member);
    field(message, 6, 's', call.destination);
    if (call.signature !== undefined) field(message, 8, 'g', call.signature);
  });
  message.align(8);
  return Buffer.concat([message.bytes(), arguments_]);
}

/** Decodes the first complete D-Bus message; the result is its length and the reply in it (undefined for signals and calls). */
export function decodeDbusMessage(
  bytes: Buffer,
): { readonly length: number; readonly reply: DbusReply | undefined } | undefined {
  if (bytes.length < 16) return undefined;
  if (bytes[0] !== 0x6c) throw new Error('the D-Bus message is big-endian');
  const start = 16 + aligned(bytes.readUInt32LE(12), 8);
  const length = start + bytes.readUInt32LE(4);
  if (length > 1_000_000) throw new Error('the D-Bus message is longer than 1 MB');
  if (bytes.length < length) return undefined;
  const fields = decodeFields(createReader(bytes.subarray(0, start), 12));
  const serial = fields.get(5);
  const kind = bytes[1];
  if (typeof serial !== 'number' || (kind !== 2 && kind !== 3)) return { length, reply: undefined };
  const error = kind === 3 ? String(fields.get(4)) : undefined;
  const body = createReader(bytes.subarray(start, length), 0);
  return { length, reply: { serial, error, signature: String(fields.get(8) ?? ''), body } };
}

function field(message: DbusWriter, code: number, type: 'o' | 's' | 'g', value: string): void {
  message.align(8);
  message.byte(code);
  message.signature(type);
  if (type === 'g') message.signature(value);
  else message.string(value);
}

function decodeFields(reader: DbusReader): ReadonlyMap<number, string | number> {
  const fields = new Map<number, string | number>();
  reader.array(8, () => {
    reader.align(8);
    const code = reader.byte();
    fields.set(code, reader.variant());
  });
  return fields;
}

export interface DbusWriter {
  byte(value: number): void;
  uint32(value: number): void;
  /** Writes a D-Bus string or object path. */
  string(text: string): void;
  signature(text: string): void;
  /** Writes a D-Bus array. @param alignment the alignment of an element in bytes */
  array(alignment: number, elements: () => void): void;
  align(to: number): void;
  bytes(): Buffer;
}

function createWriter(): DbusWriter {
  const out: number[] = [];
  const writer: DbusWriter = {
    byte: (value) => void out.push(value),
    uint32(value) {
      writer.align(4);
      out.push(value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24);
    },
    string(text) {
      const bytes = Buffer.from(text, 'utf8');
      writer.uint32(bytes.length);
      out.push(...bytes, 0);
    },
    signature: (text) => void out.push(text.length, ...Buffer.from(text, 'latin1'), 0),
    array(alignment, elements) {
      writer.uint32(0);
      const size = out.length - 4;
      writer.align(alignment);
      const start = out.length;
      elements();
      const length = out.length - start;
      out.splice(size, 4, length & 255, (length >>> 8) & 255, (length >>> 16) & 255, length >>> 24);
    },
    align(to) {
      while (out.length % to !== 0) out.push(0);
    },
    bytes: () => Buffer.from(out),
  };
  return writer;
}

export interface DbusReader {
  byte(): number;
  uint32(): number;
  /** Reads a D-Bus string or object path. */
  string(): string;
  signature(): string;
  /** Reads a D-Bus variant that contains a string, a path, a signature or a number; throws for every other type. */
  variant(): string | number;
  array(alignment: number, element: () => void): void;
  byteArray(): Buffer;
  align(to: number): void;
}

/** Reading past the end of the message throws a RangeError, as the methods of Buffer do. */
function createReader(bytes: Buffer, from: number): DbusReader {
  let at = from;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('the D-Bus message is truncated');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const text = (length: number): string => {
    const value = take(length).toString('utf8');
    take(1);
    return value;
  };
  const reader: DbusReader = {
    byte: () => take(1).readUInt8(0),
    uint32() {
      reader.align(4);
      return take(4).readUInt32LE(0);
    },
    string: () => text(reader.uint32()),
    signature: () => text(reader.byte()),
    variant() {
      const type = reader.signature();
      if (type === 's' || type === 'o') return reader.string();
      if (type === 'g') return reader.signature();
      if (type === 'u') return reader.uint32();
      throw new Error(`the D-Bus variant type ${type} is not supported`);
    },
    array(alignment, element) {
      const length = reader.uint32();
      reader.align(alignment);
      for (const end = at + length; at < end; ) element();
    },
    byteArray: () => take(reader.uint32()),
    align(to) {
      at = aligned(at, to);
    },
  };
  return reader;
}

function aligned(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}
