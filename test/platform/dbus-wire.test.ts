import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDbusMessage, encodeDbusCall } from '../../src/platform/dbus.ts';

const hello = {
  serial: 1,
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
  member: 'Hello',
};

/** A METHOD_RETURN to call 7 with the signature `s` and the body "ok", written out by hand from the specification. */
const reply = Buffer.from(
  '6c020101' +
    '07000000' +
    '02000000' +
    '0f000000' +
    '05017500' +
    '07000000' +
    '08016700' +
    '017300' +
    '00' +
    '02000000' +
    '6f6b00',
  'hex',
);

describe('the D-Bus wire format', () => {
  it('of a call has its fields where the specification puts them', () => {
    const expected =
      'l\x01\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00m\x00\x00\x00\x01\x01o\x00\x15\x00\x00\x00/org/freedesktop/DBus\x00\x00\x00' +
      '\x02\x01s\x00\x14\x00\x00\x00org.freedesktop.DBus\x00\x00\x00\x00\x03\x01s\x00\x05\x00\x00\x00Hello\x00\x00\x00' +
      '\x06\x01s\x00\x14\x00\x00\x00org.freedesktop.DBus\x00\x00\x00\x00';
    const sent = encodeDbusCall(hello);
    expect(sent.toString('latin1')).toBe(expected);
  });

  it('of a reply is read with its serial, signature and body, and only when it is whole', () => {
    for (let length = 0; length < reply.length; length++)
      expect(decodeDbusMessage(reply.subarray(0, length))).toBeUndefined();
    const message = decodeDbusMessage(Buffer.concat([reply, Buffer.from('more')]));
    expect(message).toMatchObject({ length: reply.length, reply: { serial: 7, error: undefined, signature: 's' } });
    expect(message?.reply?.body.string()).toBe('ok');
    expect(() => message?.reply?.body.string()).toThrow(RangeError);
  });

  it('never makes the reader run past the message, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 200 }), (bytes) => {
        const message = Buffer.concat([Buffer.from('l\x02\x00\x01'), bytes]);
        try {
          decodeDbusMessage(message);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});
