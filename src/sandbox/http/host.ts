import type { IncomingMessage } from 'node:http';

/**
 * Whether there is exactly one Host header and it names a loopback address: a name that was rebound to this machine does not.
 * Reads the distinct headers, because node keeps the first of two Host headers and says nothing.
 */
export function hasKnownHost(message: IncomingMessage, port: number): boolean {
  const [host = '', ...more] = message.headersDistinct.host ?? [];
  return more.length === 0 && LOOPBACK_NAMES.some((name) => isAuthority(host.toLowerCase(), name, port));
}

function isAuthority(host: string, name: string, port: number): boolean {
  return host === `${name}:${port}` || (port === 80 && host === name);
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
