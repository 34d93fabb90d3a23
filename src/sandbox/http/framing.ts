import type { IncomingMessage } from 'node:http';

type Framing = Pick<IncomingMessage, 'headers' | 'httpVersionMajor' | 'httpVersionMinor'>;

/**
 * The status for a message of which a proxy may see another end than we do (https://www.rfc-editor.org/rfc/rfc9112#section-6.1):
 * its coding is not chunked in the end, or it is of HTTP/1.0, which has none; and for one that is coded in yet another way,
 * which nobody here undoes. After either the connection is over.
 */
export function checkFraming({ headers, httpVersionMajor, httpVersionMinor }: Framing): 400 | 501 | undefined {
  const codings = headers['transfer-encoding'];
  if (codings === undefined) return undefined;
  const names = codings
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const isOld = httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor < 1);
  if (isOld || names.at(-1) !== 'chunked') return 400;
  return names.length === 1 ? undefined : 501;
}
