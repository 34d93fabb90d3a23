import { lstatSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { ProcessEnvironment } from './host.ts';

/**
 * The types of the D-Bus wire format that the Secret Service needs, in little-endian byte order (D-Bus Specification 0.43,
 * "Marshaling").
 */

interface DbusCall {
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

export function encodeCall(call: DbusCall): Buffer {
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
export function decodeMessage(
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

interface DbusReader {
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

/** A connection to the D-Bus session bus. */
export interface DbusConnection {
  /**
   * Sends a D-Bus call without waiting for the replies to earlier calls. Rejects with the name and message of the D-Bus error,
   * or when the connection breaks.
   */
  call(call: Omit<DbusCall, 'serial'>): Promise<DbusReply>;
  close(): void;
}

/**
 * Connects to the session bus; undefined when the environment has no bus address with a local socket. Every call rejects when
 * the socket belongs to another user, or the bus has another GUID than the address.
 */
export function openBus(env: ProcessEnvironment): DbusConnection | undefined {
  const address = findBusAddress(env);
  const user = process.getuid?.();
  if (address === undefined || user === undefined) return undefined;
  const { path, guid } = address;
  const owner = findOtherOwner(path, user);
  if (owner !== undefined)
    return refusedConnection(`the socket of the session bus belongs to another user (uid ${owner}): ${path}`);
  const socket = connect({ path });
  // The authentication messages are sent without waiting for replies, as sd-bus does: a bus that refuses them closes the
  // connection.
  socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(user)).toString('hex')}\r\nBEGIN\r\n`);
  const replies = dispatchReplies(socket, guid);
  let serial = 0;
  const bus: DbusConnection = {
    call(call) {
      serial += 1;
      socket.write(encodeCall({ ...call, serial }));
      return replies.wait(serial);
    },
    close: () => void socket.destroy(),
  };
  const daemon = 'org.freedesktop.DBus';
  bus.call({ destination: daemon, path: '/org/freedesktop/DBus', interface: daemon, member: 'Hello' }).catch(() => {});
  return bus;
}

interface BusAddress {
  /** The path of the socket; an abstract socket begins with a null character. */
  readonly path: string;
  /** The GUID that the server must have. */
  readonly guid: string | undefined;
}

/** Finds the bus socket as libdbus does: from DBUS_SESSION_BUS_ADDRESS, else the bus of systemd in XDG_RUNTIME_DIR. */
function findBusAddress(env: ProcessEnvironment): BusAddress | undefined {
  const address = env.DBUS_SESSION_BUS_ADDRESS;
  if (!address) return env.XDG_RUNTIME_DIR ? { path: `${env.XDG_RUNTIME_DIR}/bus`, guid: undefined } : undefined;
  const [, key, value] = /^unix:(?:[^;]*,)?(path|abstract)=([^,;]*)/.exec(address) ?? [];
  if (value === undefined) return undefined;
  const [, guid] = /^unix:(?:[^;]*,)?guid=([^,;]*)/.exec(address) ?? [];
  return {
    path: `${key === 'abstract' ? '\0' : ''}${decodeURIComponent(value)}`,
    guid: guid === undefined ? undefined : decodeURIComponent(guid),
  };
}

/**
 * The owner of a socket, or of a symbolic link to it, who is neither this user nor root: such a user could answer in the place
 * of the bus and receive the secrets. Undefined for every other socket, also for one that does not exist.
 */
function findOtherOwner(path: string, user: number): number | undefined {
  // An abstract socket is not a file.
  if (path.startsWith('\0')) return undefined;
  const owners = [lstatSync, statSync].map((read) => {
    try {
      return read(path).uid;
    } catch {
      // The connection reports why the socket cannot be reached.
      return user;
    }
  });
  return owners.find((owner) => owner !== user && owner !== 0);
}

function refusedConnection(reason: string): DbusConnection {
  return { call: () => Promise.reject(new Error(reason)), close: () => undefined };
}

/**
 * Checks the response of the server to the authentication (D-Bus Specification 0.43, "OK Command"). If the address has a GUID,
 * the server must have the same one, as libdbus requires: with another GUID, another program listens at this address.
 */
function requireExpectedServer(line: string, guid: string | undefined): void {
  const [, found] = /^OK ([0-9a-f]{32})$/i.exec(line) ?? [];
  if (found === undefined)
    throw new Error(
      line.startsWith('OK')
        ? 'the session bus sent no GUID in the authentication'
        : 'the session bus refused the connection',
    );
  if (guid !== undefined && guid.toLowerCase() !== found.toLowerCase())
    throw new Error(`the session bus has the GUID ${found}, but its address has the GUID ${guid}`);
}

/** Splits the received bytes of the bus: first one line of the authentication, then D-Bus messages. */
function dispatchReplies(socket: Socket, guid: string | undefined): { wait(serial: number): Promise<DbusReply> } {
  const waiting = new Map<number, { resolve: (reply: DbusReply) => void; reject: (error: Error) => void }>();
  let bytes = Buffer.alloc(0);
  let known = false;
  let broken: Error | undefined;
  const breakOff = (error: Error) => {
    broken ??= error;
    socket.destroy();
    for (const { reject } of waiting.values()) reject(broken);
    waiting.clear();
  };
  const parse = () => {
    if (!known) {
      const end = bytes.indexOf('\r\n');
      if (end < 0) return;
      requireExpectedServer(bytes.subarray(0, end).toString('latin1'), guid);
      bytes = bytes.subarray(end + 2);
      known = true;
    }
    for (let message = decodeMessage(bytes); message !== undefined; message = decodeMessage(bytes)) {
      bytes = bytes.subarray(message.length);
      const { reply } = message;
      if (reply === undefined) continue;
      const caller = waiting.get(reply.serial);
      waiting.delete(reply.serial);
      if (reply.error === undefined) caller?.resolve(reply);
      else caller?.reject(new Error(errorText(reply.error, reply)));
    }
  };
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    try {
      parse();
    } catch (error) {
      breakOff(error instanceof Error ? error : new Error(String(error)));
    }
  });
  socket.on('error', breakOff);
  socket.on('close', () => breakOff(new Error('the session bus closed the connection')));
  return {
    wait: (serial) =>
      new Promise((resolve, reject) => {
        if (broken === undefined) waiting.set(serial, { resolve, reject });
        else reject(broken);
      }),
  };
}

function errorText(name: string, { signature, body }: DbusReply): string {
  return signature.startsWith('s') ? `${name}: ${body.string()}` : name;
}
