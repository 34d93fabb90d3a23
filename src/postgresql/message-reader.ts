import type { ResponseMemory } from '../platform/response-memory.ts';
import { checkMessageBody } from './check-message-body.ts';

/**
 * How the rows of a COPY arrive. `rows`: each row is one message. `parts`: a large row arrives in several messages, so that
 * it is never held in memory as a whole.
 */
export type CopyMessages = 'rows' | 'parts';

export interface MessageReader {
  /** Takes bytes as they arrive and delivers complete, checked messages. Throws an Error for what no server may send. */
  read(chunk: Buffer): void;
  /** A statement is sent: what its response may hold is counted from here. */
  expectResponse(copy?: CopyMessages): void;
  /** The responses are not kept any more. */
  close(): void;
}

/** Bytes of one message before the login, where libpq accepts 30,000. */
const maxLoginMessage = 65_536;
/** Bytes of all messages before the login. */
const maxLogin = 2 ** 20;
/** Bytes of one message that holds a value of a user; far more than the source of any function. */
const maxMessage = 16 * 2 ** 20;
/** Bytes of one message of a kind that is always short, and of an error message. */
const maxShortMessage = 65_536;
const maxErrorMessage = 2 ** 20;
/** Bytes of one row of COPY: PostgreSQL builds none that is larger. */
const maxCopiedRow = 2 ** 30;
/** A row of COPY above this size is delivered in parts. */
const partSize = 65_536;

/**
 * Splits the bytes of the server into messages before pg sees them, so that a message is refused by its header. pg itself
 * stores every message whole, whatever its length, keeps all rows, and does not terminate on some malformed messages.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 * @param deliver receives complete messages, one or several at once
 * @param onAuthentication called with the code and the body of each authentication request, before it is delivered
 * @param memory limits what the responses use
 */
export function createMessageReader(
  deliver: (messages: Buffer) => void,
  onAuthentication: (code: number, body: Buffer) => void,
  memory: ResponseMemory,
): MessageReader {
  const partial = createPartialMessage();
  let isLoggedIn = false;
  let isFirst = true;
  let loginBytes = 0;
  const use = memory.open();
  let copy: CopyMessages | undefined;
  let partLeft = 0;

  /** Throws for a header that no message may have. Returns the length of the message with its header. */
  const checkHeader = (kind: number, length: number): number => {
    if (isFirst && !firstKinds.has(kind)) throw new Error('the response is not of the PostgreSQL protocol');
    isFirst = false;
    const allowed = isLoggedIn ? sessionMessages.get(kind) : loginKinds.has(kind) ? maxLoginMessage : undefined;
    if (allowed === undefined || length < 4) {
      throw new Error(`the server sent a message that is not allowed ${isLoggedIn ? 'here' : 'before the login'}`);
    }
    const limit = kind === copyData && copy === 'parts' ? maxCopiedRow : allowed;
    if (length > limit) throw new Error(`the server announced a message of ${length} bytes, more than ${limit}`);
    return length + 1;
  };

  const checkMessage = (message: Buffer): void => {
    const kind = message[0]!;
    // A table may have millions of rows, and they are not kept.
    if (kind === copyData && copy !== undefined) return;
    const body = message.subarray(5);
    if (kind === authentication) onAuthentication(body.length < 4 ? -1 : body.readInt32BE(0), body.subarray(4));
    const cost = checkMessageBody(kind, body);
    if (isLoggedIn) use.add(cost);
    else loginBytes += message.length;
    if (loginBytes > maxLogin) throw new Error('the server sends more than 1 MiB before the login');
    if (kind === readyForQuery) isLoggedIn = true;
  };

  /** Delivers the bytes of a large row as messages of their own. Returns the number of bytes taken. */
  const deliverPart = (bytes: Buffer): number => {
    const part = bytes.subarray(0, partLeft);
    if (part.length === 0) return 0;
    const header = Buffer.from([copyData, 0, 0, 0, 0]);
    header.writeUInt32BE(part.length + 4, 1);
    partLeft -= part.length;
    deliver(Buffer.concat([header, part]));
    return part.length;
  };

  const readPartial = (chunk: Buffer): number => {
    let at = partial.take(chunk, 5);
    if (partial.size() < 5) return at;
    const { kind, length } = partial.header();
    const total = checkHeader(kind, length);
    if (kind === copyData && copy === 'parts' && total > partSize) {
      partLeft = total - 5;
      partial.clear();
      return at;
    }
    at += partial.take(chunk.subarray(at), total);
    if (partial.size() < total) return at;
    const message = partial.clear();
    checkMessage(message);
    deliver(message);
    return at;
  };

  /** The end of the last complete message from `start` on; messages before an invalid one are delivered. */
  const readComplete = (chunk: Buffer, start: number): number => {
    let at = start;
    try {
      while (at + 5 <= chunk.length) {
        const end = at + checkHeader(chunk[at]!, chunk.readUInt32BE(at + 1));
        if (end > chunk.length) break;
        if (chunk[at] !== copyData || copy === undefined) checkMessage(chunk.subarray(at, end));
        at = end;
      }
    } finally {
      if (at > start) deliver(chunk.subarray(start, at));
    }
    return at;
  };

  return {
    read(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (partLeft > 0) at += deliverPart(chunk.subarray(at));
        else if (partial.size() > 0) at += readPartial(chunk.subarray(at));
        else {
          at = readComplete(chunk, at);
          if (at < chunk.length) at += readPartial(chunk.subarray(at));
        }
      }
    },
    expectResponse(messages) {
      use.nextStatement();
      copy = messages;
    },
    close: use.close,
  };
}

/** A message of which a part has arrived. Its memory grows with what arrives, not with what the header announces. */
function createPartialMessage() {
  let bytes = Buffer.alloc(0);
  let size = 0;
  return {
    size: () => size,
    header: () => ({ kind: bytes[0]!, length: bytes.readUInt32BE(1) }),
    /** Appends until the message has `total` bytes. Returns the number of bytes taken. */
    take(chunk: Buffer, total: number): number {
      const taken = Math.min(Math.max(0, total - size), chunk.length);
      if (size + taken > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(size + taken, Math.min(total, 2 * bytes.length)));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      chunk.copy(bytes, size, 0, taken);
      size += taken;
      return taken;
    },
    /** Returns the message and begins the next. */
    clear(): Buffer {
      const message = bytes.subarray(0, size);
      bytes = Buffer.alloc(0);
      size = 0;
      return message;
    },
  };
}

const authentication = 0x52;
const readyForQuery = 0x5a;
const copyData = 0x64;

const codesOf = (kinds: string) => [...kinds].map((kind) => kind.charCodeAt(0));

/** AuthenticationRequest, ErrorResponse, NegotiateProtocolVersion, NoticeResponse; pg would wait for the rest of any other. */
const firstKinds: ReadonlySet<number> = new Set(codesOf('REvN'));
/** Also ParameterStatus, BackendKeyData and ReadyForQuery, which ends the login. */
const loginKinds: ReadonlySet<number> = new Set(codesOf('REvNSKZ'));
/** The messages of the simple query protocol with the largest length of each. */
const sessionMessages: ReadonlyMap<number, number> = new Map([
  ...codesOf('DTd').map((kind) => [kind, maxMessage] as const),
  ...codesOf('ENA').map((kind) => [kind, maxErrorMessage] as const),
  ...codesOf('CIZSGHc').map((kind) => [kind, maxShortMessage] as const),
]);
