import { isIPv6 } from 'node:net';

/** Stands for a field of the source of which no part is stored. */
export const SOURCE_FIELD_NOT_STORED = '(not stored)';

/**
 * Returns the part of the host field that the sandbox may store and show: a host name or address, with the scheme and the port
 * of a URL. Connection strings have many forms, and each form has other places for a password. Therefore a text that is not
 * completely recognized is not stored at all.
 */
export function getStorableSourceHost(host: string): string {
  const text = host.trim();
  if (isHostWithPort(text)) return text;
  return hostOfUrl(text) ?? hostOfKeywords(text) ?? SOURCE_FIELD_NOT_STORED;
}

/** An `@` after the host may be part of a password that is not percent-encoded, so that the host is not the real one. */
function hostOfUrl(text: string): string | undefined {
  const [, scheme = '', host = ''] = SOURCE_URL.exec(text) ?? [];
  return isHostWithPort(host) ? `${scheme}${host}` : undefined;
}

/** Reads keywords and values as libpq does (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). */
function hostOfKeywords(text: string): string | undefined {
  const hosts: string[] = [];
  let end = 0;
  for (const [pair, keyword, quoted, plain] of text.matchAll(KEYWORD_AND_VALUE)) {
    end += pair.length;
    if (keyword === 'host') hosts.push(quoted ?? plain ?? '');
  }
  const [host = '', ...more] = hosts;
  return end === text.length && more.length === 0 && isHostWithPort(host) ? host : undefined;
}

function isHostWithPort(text: string): boolean {
  const [, bracketed, name] = HOST_WITH_PORT.exec(text) ?? [];
  return name !== undefined || isIPv6Address(bracketed ?? text);
}

/** The zone of an address (`fe80::1%eth0`) can be any text. */
function isIPv6Address(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

const HOST_WITH_PORT = /^(?:\[([^\]]*)\]|([a-z0-9_][a-z0-9_.-]{0,252}))(?::\d{1,5})?$/i;
const SOURCE_URL = /^((?:postgres|postgresql|redis|rediss):\/\/)(?:[^@/?#]*@)?([^@/?#]*)(?:[/?#][^@]*)?$/i;
const KEYWORD_AND_VALUE =
  /([a-z_]+)[ \t\n\r\f\v]*=[ \t\n\r\f\v]*(?:'((?:[^'\\]|\\.)*)'|((?:[^' \t\n\r\f\v\\]|\\.)+))(?:[ \t\n\r\f\v]+|$)/gsy;
