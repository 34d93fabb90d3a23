import { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ConnectError, connectErrorCodes } from '../platform/connect-error.ts';
import { readTlsSession, type TlsSession } from '../platform/tls-session.ts';
import { toRedisConnectError } from './command-error.ts';
import type { RedisSource } from './source.ts';
import { type TimeLimit, withTimeLimit } from './time-limit.ts';
import { redisTlsOptions } from './tls.ts';

export interface RedisSocket {
  readonly socket: Socket;
  /** undefined: not encrypted. */
  readonly tls: TlsSession | undefined;
}

/** TCP, and TLS when the source asks for it. Nothing is sent. Throws a ConnectError and leaves nothing open behind it. */
export async function openRedisSocket(source: RedisSource, bound: TimeLimit): Promise<RedisSocket> {
  const began = performance.now();
  const socket = await connectTcp(source, bound);
  if (source.ssl === 'disable') return { socket, tls: undefined };
  try {
    const left = Math.max(1, bound.limit - (performance.now() - began));
    const secure = await startTls(socket, source, { ...bound, limit: left });
    return { socket: secure, tls: readTlsSession(secure) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function connectTcp(source: RedisSource, bound: TimeLimit): Promise<Socket> {
  const socket = new Socket();
  const late = () => new ConnectError('network', connectErrorCodes.timeout, 'no answer');
  try {
    return await withTimeLimit<Socket>(bound, late, (resolve, reject) => {
      const done = () => resolve(socket);
      socket.once('connect', done).once('error', reject);
      socket.connect({ host: source.address ?? source.host, port: source.port });
      return () => void socket.off('connect', done).off('error', reject).on('error', ignored);
    });
  } catch (error) {
    socket.destroy();
    throw toRedisConnectError('network', error);
  } finally {
    socket.setNoDelay(true);
  }
}

async function startTls(socket: Socket, source: RedisSource, bound: TimeLimit): Promise<TLSSocket> {
  const secure = connectTls({ socket, ...redisTlsOptions(source) });
  const late = () => new ConnectError('tls', connectErrorCodes.tls, 'no answer to the TLS handshake');
  try {
    return await withTimeLimit<TLSSocket>(bound, late, (resolve, reject) => {
      const done = () => resolve(secure);
      const closed = () =>
        reject(new ConnectError('tls', connectErrorCodes.tls, 'the connection was closed during the TLS handshake'));
      secure.once('secureConnect', done).once('error', reject).once('close', closed);
      return () =>
        void secure.off('secureConnect', done).off('error', reject).off('close', closed).on('error', ignored);
    });
  } catch (error) {
    secure.destroy();
    throw toRedisConnectError('tls', error);
  }
}

/** A failure is seen by whoever reads or writes next; without a listener it would end the process. */
function ignored(): void {}
