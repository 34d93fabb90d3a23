import { connect, type Socket } from 'node:net';
import { type DbusCall, type DbusReply, decodeDbusMessage, encodeDbusCall } from './dbus-wire.ts';
import type { ProcessEnvironment } from './host.ts';

/** A connection to the D-Bus session bus. */
export interface DbusConnection {
  /**
   * Sends a D-Bus call without waiting for the replies to earlier calls. Rejects with the name and message of the D-Bus error,
   * or when the connection breaks.
   */
  call(call: Omit<DbusCall, 'serial'>): Promise<DbusReply>;
  close(): void;
}

/** Connects to the session bus; undefined when the environment has no bus address with a local socket. */
export function openSessionBus(env: ProcessEnvironment): DbusConnection | undefined {
  const path = busPath(env);
  const user = process.getuid?.();
  if (path === undefined || user === undefined) return undefined;
  const socket = connect({ path });
  // The authentication messages are sent without waiting for replies, as sd-bus does: a bus that refuses them closes the
  // connection.
  socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(user)).toString('hex')}\r\nBEGIN\r\n`);
  const replies = dispatchReplies(socket);
  let serial = 0;
  const bus: DbusConnection = {
    call(call) {
      serial += 1;
      socket.write(encodeDbusCall({ ...call, serial }));
      return replies.wait(serial);
    },
    close: () => void socket.destroy(),
  };
  const daemon = 'org.freedesktop.DBus';
  bus.call({ destination: daemon, path: '/org/freedesktop/DBus', interface: daemon, member: 'Hello' }).catch(() => {});
  return bus;
}

/** Finds the bus socket as libdbus does: from DBUS_SESSION_BUS_ADDRESS, else the bus of systemd in XDG_RUNTIME_DIR. */
function busPath(env: ProcessEnvironment): string | undefined {
  const address = env.DBUS_SESSION_BUS_ADDRESS;
  if (!address) return env.XDG_RUNTIME_DIR ? `${env.XDG_RUNTIME_DIR}/bus` : undefined;
  const [, key, value] = /^unix:(?:[^;]*,)?(path|abstract)=([^,;]*)/.exec(address) ?? [];
  if (value === undefined) return undefined;
  return `${key === 'abstract' ? '\0' : ''}${decodeURIComponent(value)}`;
}

/** Splits the received bytes of the bus: first one line of the authentication, then D-Bus messages. */
function dispatchReplies(socket: Socket): { wait(serial: number): Promise<DbusReply> } {
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
      if (!bytes.subarray(0, end).toString('latin1').startsWith('OK'))
        throw new Error('the session bus refused the connection');
      bytes = bytes.subarray(end + 2);
      known = true;
    }
    for (let message = decodeDbusMessage(bytes); message !== undefined; message = decodeDbusMessage(bytes)) {
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
