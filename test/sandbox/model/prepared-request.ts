import { request } from 'node:http';
import { connect } from 'node:net';
import type { Exchange, SendOptions } from '../requests.ts';

/** Sends one request on a connection that is already open, so that requests on several connections arrive together. */
export type PreparedRequest = (
  target: string,
  options: Pick<SendOptions, 'method' | 'headers' | 'body'>,
) => Promise<Answered>;
export type Answered = Pick<Exchange, 'status' | 'body'>;

export async function prepareConnection(origin: string): Promise<PreparedRequest> {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return (target, { method = 'GET', headers = {}, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const outgoing = request({
        method,
        path: target,
        headers: { host, connection: 'close', ...length, ...headers },
        createConnection: () => socket,
      });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('error', reject);
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: text }));
      });
      outgoing.end(body);
    });
}
