import { describe, expect, test } from 'vitest';
import { createLimit } from '../../src/platform/memory.ts';
import { type CopyDelivery, createMessageReader } from '../../src/postgresql/message-reader.ts';
import { hello, int32, message, ready, row } from './wire.ts';

/** What pg receives of these bytes when they arrive in chunks of this size. */
function delivered(bytes: Buffer, size = bytes.length, copy?: CopyDelivery): readonly Buffer[] {
  const found: Buffer[] = [];
  const reader = createMessageReader(
    (messages) => found.push(...splitMessages(Buffer.from(messages))),
    () => {},
    createLimit('statement'),
  );
  reader.read(hello);
  found.length = 0;
  reader.expectResponse(copy);
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  return found;
}

/** Fails unless the bytes are whole messages. */
function splitMessages(bytes: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += found.at(-1)!.length) {
    found.push(bytes.subarray(at, at + 1 + bytes.readUInt32BE(at + 1)));
    expect(at + found.at(-1)!.length).toBeLessThanOrEqual(bytes.length);
  }
  return found;
}

function readerOf(onAuthentication: (code: number, body: Buffer) => void = () => {}) {
  const found: Buffer[] = [];
  const reader = createMessageReader(
    (messages) => found.push(Buffer.from(messages)),
    onAuthentication,
    createLimit('statement'),
  );
  return { ...reader, received: () => Buffer.concat(found) };
}

const announced = (kind: string, length: number) => Buffer.concat([Buffer.from(kind), int32(length)]);

describe('messages are delivered whole', () => {
  const response = Buffer.concat([row('a', '1'), row('b', 'two'), ready]);
  test.each([1, 2, 3, 5, 7, 64, 1000])('when they arrive in chunks of %i bytes', (size) => {
    const found = delivered(response, size);
    expect(Buffer.concat(found)).toEqual(response);
    expect(found).toHaveLength(7);
  });

  test('and those before an invalid one as well', () => {
    const reader = readerOf();
    reader.read(hello);
    expect(() => reader.read(Buffer.concat([ready, announced('?', 4)]))).toThrow();
    expect(reader.received()).toEqual(Buffer.concat([hello, ready]));
  });
});

describe('before the login', () => {
  test.each([
    ['rows', message('D', Buffer.from([0, 0]))],
    ['a message of 2 GB', announced('E', 2 ** 31 - 1)],
    ['a message of 64 KiB and a byte', announced('R', 65_537)],
    ['a message without its length', announced('R', 3)],
    ['bytes of another protocol', Buffer.from('HTTP/1.1 400 Bad Request')],
  ])('%s are refused by their header', (_name, bytes) => {
    expect(() => readerOf().read(bytes)).toThrow();
  });

  test('1 MiB of valid messages is the limit', () => {
    const reader = readerOf();
    const notice = message('N', Buffer.concat([Buffer.from('M'), Buffer.alloc(10_000, 0x61), Buffer.from([0, 0])]));
    for (let at = 0; at < 104; at++) reader.read(notice);
    expect(() => reader.read(notice)).toThrow();
  });

  test('authentication requests are reported before they are delivered', () => {
    const codes: number[] = [];
    const reader = readerOf((code) => {
      codes.push(code);
      if (code === 3) throw new Error('refused');
    });
    expect(() => reader.read(message('R', int32(3)))).toThrow('refused');
    expect(reader.received()).toHaveLength(0);
    expect(() => reader.read(message('R', Buffer.alloc(0)))).not.toThrow();
    expect(codes).toEqual([3, -1]);
  });
});

describe('after the login', () => {
  const loggedIn = () => {
    const reader = readerOf();
    reader.read(hello);
    return reader;
  };

  test('an authentication request is refused', () => {
    expect(() => loggedIn().read(message('R', int32(3)))).toThrow();
  });

  test.each([
    ['a row', 'D', 16 * 2 ** 20],
    ['an error', 'E', 2 ** 20],
    ['a parameter', 'S', 65_536],
  ])('%s has a largest length', (_name, kind, limit) => {
    expect(() => loggedIn().read(announced(kind, limit))).not.toThrow();
    expect(() => loggedIn().read(announced(kind, limit + 1))).toThrow();
  });

  test('the memory of a response is limited, and each statement has its own', () => {
    const reader = loggedIn();
    const large = message('D', Buffer.concat([Buffer.from([0, 1]), int32(15_000_000), Buffer.alloc(15_000_000)]));
    for (let statement = 0; statement < 3; statement++) {
      reader.expectResponse();
      for (let at = 0; at < 4; at++) reader.read(large);
    }
    expect(() => reader.read(large)).toThrow();
  });
});

describe('rows of a COPY', () => {
  const copied = (size: number) => message('d', Buffer.alloc(size, 0x61));

  test('do not count, because they are not kept', () => {
    const chunk = Buffer.concat(Array.from({ length: 10 }, () => copied(1_000_000)));
    const reader = readerOf();
    reader.read(hello);
    reader.expectResponse('rows');
    for (let at = 0; at < 10; at++) expect(() => reader.read(chunk)).not.toThrow();
  });

  test('are whole, and then 16 MiB is the largest', () => {
    expect(delivered(copied(100_000), 1000, 'rows')).toEqual([copied(100_000)]);
    expect(() => delivered(announced('d', 2 ** 24 + 1), 5, 'rows')).toThrow();
  });

  test.each([999, 65_536, 1_000_000])('arrive in parts when they are large (chunks of %i bytes)', (size) => {
    const small = copied(10);
    const found = delivered(Buffer.concat([small, copied(200_000), small, ready]), size, 'parts');
    expect(Buffer.concat(found.slice(1, -2).map((part) => part.subarray(5)))).toEqual(Buffer.alloc(200_000, 0x61));
    expect([found[0], ...found.slice(-2)]).toEqual([small, small, ready]);
  });

  test('of 1 GiB are accepted in parts', () => {
    expect(() => delivered(announced('d', 2 ** 30), 5, 'parts')).not.toThrow();
    expect(() => delivered(announced('d', 2 ** 30 + 1), 5, 'parts')).toThrow();
  });

  test('that nobody asked for count', () => {
    const reader = readerOf();
    reader.read(hello);
    reader.expectResponse();
    const chunk = Buffer.concat(Array.from({ length: 10 }, () => copied(1_000_000)));
    expect(() => {
      for (let at = 0; at < 10; at++) reader.read(chunk);
    }).toThrow();
  });
});
