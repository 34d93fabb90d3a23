import { lstatSync, statSync } from 'node:fs';
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

/**
 * Connects to the session bus; undefined when the environment has no bus address with a local socket. Every call rejects when
 * the socket belongs to another user, or the bus has another GUID than the address.
 */
export function openSessionBus(env: ProcessEnvironment): DbusConnection | undefined {
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
      socket.write(encodeDbusCall({ ...call, serial }));
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
