import type { IncomingMessage } from 'node:http';

type Framing = Pick<IncomingMessage, 'headers' | 'httpVersionMajor' | 'httpVersionMinor'>;

/**
 * Returns the error status for a request whose end a proxy could determine differently
 * (https://www.rfc-editor.org/rfc/rfc9112#section-6.1): 400 when the last transfer coding is not chunked or the version is
 * HTTP/1.0, 501 for any additional coding, undefined for valid framing. After a request with invalid framing the connection
 * must be closed.
 */
export function checkHttpMessageFraming({
  headers,
  httpVersionMajor,
  httpVersionMinor,
}: Framing): 400 | 501 | undefined {
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
