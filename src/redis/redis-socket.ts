import { isIP, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, rootCertificates, type TLSSocket } from 'node:tls';
import {
  ConnectError,
  clientErrorCodes,
  readTlsInfo,
  type TlsInfo,
  tlsHandshakeClosed,
} from '../platform/network-errors.ts';
import { toConnectError } from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';

/**
 * Starts an operation that ends with one of the two callbacks; the returned function is called afterwards to release
 * resources.
 */
export type CleanupExecutor<T> = (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void;

export interface TimeLimitOptions {
  /** Milliseconds. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the result of the operation. Throws `late()` after the limit, or the reason of the signal if the signal
 * aborts first.
 */
export function withTimeLimit<T>(
  { limit, signal }: TimeLimitOptions,
  late: () => Error,
  work: CleanupExecutor<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let undo = () => {};
    let isSettled = false;
    const settle = (finish: () => void) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      undo();
      finish();
    };
    const stop = () => settle(() => reject(signal?.reason));
    const timer = setTimeout(() => settle(() => reject(late())), limit);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted === true) return stop();
    const cancel = work(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    );
    if (isSettled) cancel();
    undo = cancel;
    return undefined;
  });
}

/**
 * TLS options that encrypt without verifying the certificate, like the service, which accepts no CA certificate. With
 * `ca` the certificate chain and the host name are verified.
 */
export function redisTlsOptions(source: RedisEndpoint): ConnectionOptions {
  return {
    host: source.host,
    // SNI may contain only host names (RFC 6066 §3).
    ...(isIP(source.host) === 0 ? { servername: source.host } : {}),
    rejectUnauthorized: source.ca !== undefined,
    ...(source.ca === undefined ? {} : { ca: source.ca.pem }),
  };
}

export interface ConnectedSocket {
  readonly socket: Socket;
  /** undefined: not encrypted. */
  readonly tls: TlsInfo | undefined;
}

/**
 * Connects by TCP, and by TLS when the source requires it. Sends no command. Throws a ConnectError, and then leaves no
 * socket open.
 */
export async function openSocket(source: RedisEndpoint, timeLimit: TimeLimitOptions): Promise<ConnectedSocket> {
  const began = performance.now();
  const socket = await connectTcp(source, timeLimit);
  if (source.ssl === 'disable') return { socket, tls: undefined };
  try {
    const left = Math.max(1, timeLimit.limit - (performance.now() - began));
    const secure = await startTls(socket, source, { ...timeLimit, limit: left });
    return {
      socket: secure,
      tls: { ...readTlsInfo(secure), isPubliclyTrusted: isPubliclyTrusted(secure, source) },
    };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * With a CA file, the server counts as publicly trusted if the file contains the root certificate of a public certificate
 * authority.
 */
function isPubliclyTrusted(secure: TLSSocket, { ca }: RedisEndpoint): boolean {
  if (ca !== undefined) return rootCertificates.some((root) => ca.pem.includes(root));
  // A Redis replica verifies the certificate chain, but not the host name.
  return secure.authorized || `${secure.authorizationError}` === 'ERR_TLS_CERT_ALTNAME_INVALID';
}

async function connectTcp(source: RedisEndpoint, timeLimit: TimeLimitOptions): Promise<Socket> {
  const socket = new Socket();
  const late = () => new ConnectError('network', clientErrorCodes.timeout, 'no response');
  try {
    return await withTimeLimit<Socket>(timeLimit, late, (resolve, reject) => {
      const done = () => resolve(socket);
      socket.once('connect', done).once('error', reject);
      socket.connect({ host: source.address ?? source.host, port: source.port });
      return () => void socket.off('connect', done).off('error', reject).on('error', ignoreError);
    });
  } catch (error) {
    socket.destroy();
    throw toConnectError('network', error);
  } finally {
    socket.setNoDelay(true);
  }
}

async function startTls(socket: Socket, source: RedisEndpoint, timeLimit: TimeLimitOptions): Promise<TLSSocket> {
  const secure = connectTls({ socket, ...redisTlsOptions(source) });
  const late = () => new ConnectError('tls', clientErrorCodes.tls, unansweredHandshake);
  try {
    return await withTimeLimit<TLSSocket>(timeLimit, late, (resolve, reject) => {
      const done = () => resolve(secure);
      const closed = () => reject(new ConnectError('tls', clientErrorCodes.tls, tlsHandshakeClosed));
      secure.once('secureConnect', done).once('error', reject).once('close', closed);
      return () =>
        void secure.off('secureConnect', done).off('error', reject).off('close', closed).on('error', ignoreError);
    });
  } catch (error) {
    secure.destroy();
    throw toConnectError('tls', error);
  }
}

export const unansweredHandshake = 'no response to the TLS handshake';

/**
 * The listener is empty: the next read or write reports the error, and without a listener an error event would end the
 * process.
 */
function ignoreError(): void {}
