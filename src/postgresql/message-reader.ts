import { sanitizeLine } from '../base/sanitize.ts';
import type { MemoryLimit } from '../platform/memory.ts';
import { ConnectError } from '../platform/network-errors.ts';
import type { Stream } from './pg.ts';

/**
 * Checks the parts of a protocol message that the package pg does not check: an unterminated error makes pg loop
 * endlessly, and wrong lengths of values make it read beyond the message. Throws an Error for a malformed message.
 * @param kind the first byte of the message
 * @returns bytes of memory that the decoded message uses
 */
export function checkBody(kind: number, body: Buffer): number {
  switch (kind) {
    case dataRow:
      return checkDataRow(body);
    case rowDescription:
      checkColumnCount(body);
      return resultCost + 16 * body.length;
    case errorResponse:
    case noticeResponse:
      checkFields(body);
      return fixedCost + body.length;
    case commandComplete:
      return resultCost + body.length;
    default:
      return fixedCost + body.length;
  }
}

/**
 * The measured memory in bytes that the package pg uses for a message, for each value of a row, and for a result
 * without rows.
 */
const fixedCost = 180;
const valueCost = 24;
const resultCost = 1024;
/** The maximum number of columns of a result (https://www.postgresql.org/docs/current/limits.html). */
const maxColumns = 1664;

function checkDataRow(body: Buffer): number {
  const columns = checkColumnCount(body);
  let at = 2;
  for (let column = 0; column < columns; column++) {
    if (at + 4 > body.length) throw new Error('a row of the response is cut off');
    const length = body.readInt32BE(at);
    at += 4 + Math.max(0, length);
    if (length < -1 || at > body.length) throw new Error('a value of the response is longer than its row');
  }
  if (at !== body.length) throw new Error('a row of the response is longer than its values');
  return fixedCost + columns * valueCost + body.length;
}

function checkColumnCount(body: Buffer): number {
  const columns = body.length < 2 ? -1 : body.readInt16BE(0);
  if (columns < 0 || columns > maxColumns) throw new Error(`the response has ${columns} columns`);
  return columns;
}

/** Fields of an error message are texts that end with a zero byte; another zero byte ends the message. */
function checkFields(body: Buffer): void {
  const isTerminated = body.at(-1) === 0 && (body.length === 1 || body.at(-2) === 0);
  if (!isTerminated) throw new Error('an error message of the server is cut off');
}

const dataRow = 0x44;
const rowDescription = 0x54;
const errorResponse = 0x45;
const noticeResponse = 0x4e;
const commandComplete = 0x43;

/**
 * How the rows of a COPY are delivered. `rows`: each row is delivered as one message. `parts`: a large row is delivered
 * in several messages, so that the whole row is never in memory.
 */
export type CopyDelivery = 'rows' | 'parts';

export interface MessageReader {
  /**
   * Receives the bytes of the server and delivers complete, checked messages. Throws an Error for messages that no
   * PostgreSQL server may send.
   */
  read(chunk: Buffer): void;
  /** Must be called when a statement is sent: the size of its response is counted from here. */
  expectResponse(copy?: CopyDelivery): void;
  /** Must be called when the responses of this session are no longer in memory. */
  close(): void;
}

/** Maximum bytes of one message before the login; libpq accepts 30,000. */
const maxLoginMessage = 65_536;
/** Maximum bytes of all messages before the login together. */
const maxLogin = 2 ** 20;
/** Maximum bytes of one message whose length depends on user data; the source text of a function is much shorter. */
const maxMessage = 16 * 2 ** 20;
/** Maximum bytes of an error message, and of messages that are always short. */
const maxShortMessage = 65_536;
const maxErrorMessage = 2 ** 20;
/** Maximum bytes of one row of COPY: PostgreSQL cannot build a larger row. */
const maxCopiedRow = 2 ** 30;
/** A row of COPY above this size is delivered in parts. */
const partSize = 65_536;

/**
 * Splits the bytes of the server into messages before the package pg reads them, so that the header alone can refuse a
 * message. pg itself stores whole messages of any length, keeps all rows, and does not terminate on some malformed
 * messages. https://www.postgresql.org/docs/current/protocol-message-formats.html
 * @param deliver receives complete messages, one or several at once
 * @param onAuthentication called with the code and the body of each authentication request, before it is delivered
 * @param memory limits what the responses use
 */
export function createMessageReader(
  deliver: (messages: Buffer) => void,
  onAuthentication: (code: number, body: Buffer) => void,
  memory: MemoryLimit,
): MessageReader {
  const partial = createPartialMessage();
  let isLoggedIn = false;
  let isFirst = true;
  let loginBytes = 0;
  const use = memory.open();
  let copy: CopyDelivery | undefined;
  let partLeft = 0;

  /**
   * Checks the header of a message, and throws if no message may have it. Returns the length of the message with its
   * header.
   */
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
    // Rows of COPY do not count, because they are not kept in memory.
    if (kind === copyData && copy !== undefined) return;
    const body = message.subarray(5);
    if (kind === authentication) onAuthentication(body.length < 4 ? -1 : body.readInt32BE(0), body.subarray(4));
    const cost = checkBody(kind, body);
    if (isLoggedIn) use.add(cost);
    else loginBytes += message.length;
    if (loginBytes > maxLogin) throw new Error('the server sends more than 1 MiB before the login');
    if (kind === readyForQuery) isLoggedIn = true;
  };

  /** Delivers the parts of a large row as separate messages. Returns the number of bytes that were used. */
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

  /** The end of the last complete message after `start`; messages before an invalid message are still delivered. */
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

/**
 * A message of which only a part has been received. The memory of the message grows with the bytes received, not with
 * the length in the header.
 */
function createPartialMessage() {
  let bytes = Buffer.alloc(0);
  let size = 0;
  return {
    size: () => size,
    header: () => ({ kind: bytes[0]!, length: bytes.readUInt32BE(1) }),
    /** Appends bytes until the message has `total` bytes. Returns the number of bytes that were used. */
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
    /** Returns the complete message, and prepares the buffer for the next message. */
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

/**
 * Messages allowed before the login: AuthenticationRequest, ErrorResponse, NegotiateProtocolVersion, NoticeResponse;
 * the package pg would wait for the rest of any other message.
 */
const firstKinds: ReadonlySet<number> = new Set(codesOf('REvN'));
/**
 * Messages allowed during the login: those that are allowed before the login, ParameterStatus, BackendKeyData and
 * ReadyForQuery, which ends the login.
 */
const loginKinds: ReadonlySet<number> = new Set(codesOf('REvNSKZ'));
/** The message types of the simple query protocol, each with its maximum length. */
const sessionMessages: ReadonlyMap<number, number> = new Map([
  ...codesOf('DTd').map((kind) => [kind, maxMessage] as const),
  ...codesOf('ENA').map((kind) => [kind, maxErrorMessage] as const),
  ...codesOf('CIZSGHc').map((kind) => [kind, maxShortMessage] as const),
]);

/**
 * The stream that the package pg reads: it contains only complete and checked messages. pg parses messages in a
 * listener and throws on some, such as a Kerberos request; no caller can catch this error, so the stream catches
 * it and destroys the connection.
 */
export function createMessageStream(
  stream: Stream,
  createReader: (deliver: (messages: Buffer) => void) => Pick<MessageReader, 'read'>,
): Stream {
  return {
    on(event, listener) {
      const reader = event === 'data' ? createReader((messages) => listener(messages)) : undefined;
      return stream.on(event, (...values) => {
        try {
          const [bytes] = values;
          if (reader !== undefined && Buffer.isBuffer(bytes)) reader.read(bytes);
          else listener(...values);
        } catch (error) {
          stream.destroy(error instanceof ConnectError ? error : new Error(sanitizeLine(String(error))));
        }
      });
    },
    destroy: (error) => stream.destroy(error),
  };
}
