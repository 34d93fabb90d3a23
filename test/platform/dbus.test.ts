import { once } from 'node:events';
import { chownSync, lchownSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { decodeMessage, encodeCall, openBus } from '../../src/platform/dbus.ts';
import { readServiceItem } from '../../src/platform/secret-service.ts';
import { expectGolden } from '../fixtures/golden.ts';

describe('a connection', () => {
  const guid = '0123456789abcdef0123456789abcdef';
  const otherGuid = 'fedcba9876543210fedcba9876543210';

  interface FakeBus {
    readonly path: string;
    readonly link: string;
    /** The number of connections so far. */
    connections(): number;
  }

  /** A bus that sends this line in the authentication, then a reply without a body to each of the first calls. */
  async function fakeBus(line: string, abstractName?: string): Promise<FakeBus> {
    const folder = mkdtempSync(join(tmpdir(), 'fake-bus-'));
    const [path, link] = [join(folder, 'bus'), join(folder, 'link')];
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(Buffer.concat([Buffer.from(`${line}\r\n`), ...[1, 2].map(emptyReply)])));
    });
    server.listen(abstractName === undefined ? path : `\0${abstractName}`);
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });
    symlinkSync(path, link);
    return { path, link, connections: () => connections };
  }

  /** A METHOD_RETURN without a body: the header has only the field REPLY_SERIAL. */
  function emptyReply(serial: number): Buffer {
    return Buffer.from(`6c02010100000000${number(serial)}0800000005017500${number(serial)}`, 'hex');
  }

  function number(value: number): string {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes.toString('hex');
  }

  /** What a call of the bus at this address ends with. */
  async function call(address: string): Promise<'a reply' | 'an error'> {
    const bus = openBus({ DBUS_SESSION_BUS_ADDRESS: address });
    if (bus === undefined) throw new Error('the address was not read');
    try {
      await bus.call({ destination: 'org.example', path: '/', interface: 'org.example', member: 'Any' });
      return 'a reply';
    } catch {
      return 'an error';
    } finally {
      bus.close();
    }
  }

  async function reasonAt(address: string): Promise<string> {
    const found = await readServiceItem(
      { DBUS_SESSION_BUS_ADDRESS: address },
      { service: 'nothing' },
      AbortSignal.timeout(5_000),
    );
    expect(found).toMatchObject({ kind: 'unavailable', why: 'failed' });
    return found.kind === 'unavailable' ? found.reason : '';
  }

  describe.skipIf(process.getuid === undefined)('the GUID of the bus', () => {
    it.each([
      ['is the one of the address', `OK ${guid}`, `,guid=${guid}`],
      ['differs only in the case of its letters', `OK ${guid.toUpperCase()}`, `,guid=${guid}`],
      ['is in the address of another bus only', `OK ${guid}`, `;unix:path=/nonexistent,guid=${otherGuid}`],
      ['is not in the address', `OK ${guid}`, ''],
    ])('that %s is accepted', async (_, line, more) => {
      const { path } = await fakeBus(line);
      expect(await call(`unix:path=${path}${more}`)).toBe('a reply');
    });

    it('is found at the beginning of the address too', async () => {
      const { path } = await fakeBus(`OK ${guid}`);
      expect(await call(`unix:guid=${guid},path=${path}`)).toBe('a reply');
      expect(await call(`unix:guid=${otherGuid},path=${path}`)).toBe('an error');
    });

    it.runIf(process.platform === 'linux')('is compared at an abstract socket too', async () => {
      const name = `cloudctl-test-${process.pid}`;
      await fakeBus(`OK ${guid}`, name);
      expect(await call(`unix:abstract=${name},guid=${guid}`)).toBe('a reply');
      expect(await call(`unix:abstract=${name},guid=${otherGuid}`)).toBe('an error');
    });

    it('that differs from the address is refused', async () => {
      const { path } = await fakeBus(`OK ${otherGuid}`);
      expectGolden('auth', await reasonAt(`unix:path=${path},guid=${guid}`));
    });

    it.each(['OK', 'OK ', 'OKAY', `OK${guid}`, `OK ${guid}0`, `OK ${guid.slice(1)}`, `OK ${guid.slice(1)}g`])(
      'must follow OK: "%s" is refused',
      async (line) => {
        const { path } = await fakeBus(line);
        expect(await call(`unix:path=${path}`)).toBe('an error');
      },
    );

    it.each([
      ['missing', 'OK'],
      ['replaced by a refusal', 'REJECTED EXTERNAL'],
    ])('that is %s is an error that says so', async (_, line) => {
      const { path } = await fakeBus(line);
      expectGolden('auth', await reasonAt(`unix:path=${path}`));
    });
  });

  describe.skipIf(process.getuid === undefined)('the owner of the socket', () => {
    /** Only root can give a file to another user; for any other user, this process becomes another user. */
    function giveToOtherUser(path: string, chown: typeof chownSync): void {
      const user = process.getuid?.() ?? 0;
      if (user === 0) chown(path, 65_534, 65_534);
      else vi.spyOn(process, 'getuid').mockReturnValue(user + 1);
      onTestFinished(() => void vi.restoreAllMocks());
    }

    it.each([
      ['socket', 'path', chownSync],
      ['symbolic link to it', 'link', lchownSync],
    ] as const)('that is another user is refused before a connection: %s', async (_, at, chown) => {
      const bus = await fakeBus(`OK ${guid}`);
      giveToOtherUser(bus[at], chown);
      expect(await call(`unix:path=${bus.link}`)).toBe('an error');
      expect(bus.connections()).toBe(0);
    });

    it('that is another user is named', async () => {
      const { path } = await fakeBus(`OK ${guid}`);
      giveToOtherUser(path, chownSync);
      const reason = await reasonAt(`unix:path=${path}`);
      expectGolden('auth', reason.replace(path, '/FOLDER/bus').replace(/uid \d+/, 'uid UID'));
    });

    it('is checked for the bus of XDG_RUNTIME_DIR too', async () => {
      const { path } = await fakeBus(`OK ${guid}`);
      giveToOtherUser(path, chownSync);
      const bus = openBus({ XDG_RUNTIME_DIR: join(path, '..') });
      await expect(
        bus?.call({ destination: 'org.example', path: '/', interface: 'org.example', member: 'Any' }),
      ).rejects.toThrow();
    });

    // Only root can create a socket of root.
    it.runIf(process.getuid?.() === 0)('that is root is accepted from another user', async () => {
      const { path } = await fakeBus(`OK ${guid}`);
      vi.spyOn(process, 'getuid').mockReturnValue(65_534);
      onTestFinished(() => void vi.restoreAllMocks());
      expect(await call(`unix:path=${path}`)).toBe('a reply');
    });
  });
});

describe('the wire', () => {
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
      const sent = encodeCall(hello);
      expect(sent.toString('latin1')).toBe(expected);
    });

    it('of a reply is read with its serial, signature and body, and only when it is whole', () => {
      for (let length = 0; length < reply.length; length++)
        expect(decodeMessage(reply.subarray(0, length))).toBeUndefined();
      const message = decodeMessage(Buffer.concat([reply, Buffer.from('more')]));
      expect(message).toMatchObject({ length: reply.length, reply: { serial: 7, error: undefined, signature: 's' } });
      expect(message?.reply?.body.string()).toBe('ok');
      expect(() => message?.reply?.body.string()).toThrow(RangeError);
    });

    it('never makes the reader run past the message, whatever the bytes are', () => {
      fc.assert(
        fc.property(fc.uint8Array({ minLength: 16, maxLength: 200 }), (bytes) => {
          const message = Buffer.concat([Buffer.from('l\x02\x00\x01'), bytes]);
          try {
            decodeMessage(message);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        }),
      );
    });
  });
});
