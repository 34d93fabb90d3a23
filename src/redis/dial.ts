import { Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { readTls, type TlsSession } from '../platform/tls-session.ts';
import { type Bound, bounded } from './bounded.ts';
import { ConnectError, networkError, ownCodes } from './failure.ts';
import type { RedisSource } from './source.ts';
import { tlsOptions } from './tls.ts';

export interface Line {
  readonly socket: Socket;
  /** undefined: not encrypted. */
  readonly tls: TlsSession | undefined;
}

/** TCP, and TLS when the source asks for it. Nothing is sent. Throws a ConnectError and leaves nothing open behind it. */
export async function dial(source: RedisSource, bound: Bound): Promise<Line> {
  const began = performance.now();
  const socket = await dialTcp(source, bound);
  if (source.ssl === 'disable') return { socket, tls: undefined };
  try {
    const left = Math.max(1, bound.limit - (performance.now() - began));
    const secure = await shakeHands(socket, source, { ...bound, limit: left });
    return { socket: secure, tls: readTls(secure) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function dialTcp(source: RedisSource, bound: Bound): Promise<Socket> {
  const socket = new Socket();
  const late = () => new ConnectError('network', ownCodes.timeout, 'no answer');
  try {
    return await bounded<Socket>(bound, late, (resolve, reject) => {
      const done = () => resolve(socket);
      socket.once('connect', done).once('error', reject);
      socket.connect({ host: source.address ?? source.host, port: source.port });
      return () => void socket.off('connect', done).off('error', reject).on('error', ignored);
    });
  } catch (error) {
    socket.destroy();
    throw networkError('network', error);
  } finally {
    socket.setNoDelay(true);
  }
}

async function shakeHands(socket: Socket, source: RedisSource, bound: Bound): Promise<TLSSocket> {
  const secure = connectTls({ socket, ...tlsOptions(source) });
  const late = () => new ConnectError('tls', ownCodes.tls, 'no answer to the TLS handshake');
  try {
    return await bounded<TLSSocket>(bound, late, (resolve, reject) => {
      const done = () => resolve(secure);
      const closed = () =>
        reject(new ConnectError('tls', ownCodes.tls, 'the connection was closed during the TLS handshake'));
      secure.once('secureConnect', done).once('error', reject).once('close', closed);
      return () =>
        void secure.off('secureConnect', done).off('error', reject).off('close', closed).on('error', ignored);
    });
  } catch (error) {
    secure.destroy();
    throw networkError('tls', error);
  }
}

/** A failure is seen by whoever reads or writes next; without a listener it would end the process. */
function ignored(): void {}
