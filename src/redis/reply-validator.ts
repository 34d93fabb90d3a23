import type { DatabaseResponseMemoryLimit } from '../platform/response-memory.ts';

export interface RedisReplyValidator {
  /** Checks the bytes of the server as they arrive. Throws an Error for bytes that no Redis server may send. */
  read(chunk: Buffer): void;
  /**
   * Must be called when the caller has received a complete reply. The reply then no longer counts towards the memory limit.
   */
  nextReply(): void;
  close(): void;
}

/** Maximum bytes of one bulk string; far more than any command of this program returns. */
const maxBulkString = 16 * 2 ** 20;
/** Maximum bytes of a simple string or an error. */
const maxLine = 65_536;
const maxElements = 1_000_000;
const maxDepth = 16;
/** The measured memory in bytes that ioredis uses for a value, and for an array element that has not arrived yet. */
const valueCost = 150;
const elementCost = 8;

/**
 * Checks replies in RESP 2 before ioredis parses them, because ioredis allocates an array of any announced length, and
 * does not terminate on some malformed lengths. https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export function createRedisReplyValidator(memory: DatabaseResponseMemoryLimit): RedisReplyValidator {
  const use = memory.open();
  /** The number of elements that each incomplete array still lacks. */
  const open: number[] = [];
  let line = '';
  let bulkLeft = 0;

  const endValue = (): void => {
    while (open.length > 0) {
      const left = open.pop()! - 1;
      if (left > 0) {
        open.push(left);
        return;
      }
    }
  };

  const readLine = (text: string): void => {
    if (text.indexOf('\r') !== text.length - 1) throw malformed();
    use.add(valueCost);
    const [type, value] = [text[0] ?? '', text.slice(1, -1)];
    if (type === '$' && value !== '-1') {
      bulkLeft = lengthIn(value, maxBulkString) + 2;
    } else if (type === '*' && value !== '-1' && value !== '0') {
      const length = lengthIn(value, maxElements);
      open.push(length);
      if (open.length > maxDepth) throw new Error(`the reply is nested more than ${maxDepth} deep`);
      use.add(length * elementCost);
    } else if ('+-$*'.includes(type) || (type === ':' && /^[+-]?\d{1,20}$/.test(value))) {
      endValue();
    } else {
      throw malformed();
    }
  };

  return {
    read(chunk) {
      use.add(chunk.length);
      for (let at = 0; at < chunk.length; ) {
        if (bulkLeft > 0) {
          const taken = Math.min(bulkLeft, chunk.length - at);
          at += taken;
          bulkLeft -= taken;
          if (bulkLeft === 0) endValue();
          continue;
        }
        const end = chunk.indexOf(0x0a, at);
        line += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
        if (line.length > maxLine) throw new Error(`a line of the reply is longer than ${maxLine} bytes`);
        if (end < 0) return;
        const complete = line;
        line = '';
        at = end + 1;
        readLine(complete);
      }
    },
    nextReply: use.nextStatement,
    close: use.close,
  };
}

function lengthIn(text: string, limit: number): number {
  if (!/^\d{1,10}$/.test(text)) throw malformed();
  const length = Number(text);
  if (length > limit)
    throw new Error(`the server announced a reply of ${length} bytes or elements, more than ${limit}`);
  return length;
}

function malformed(): Error {
  return new Error('the reply is not of the Redis protocol');
}
