import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryFault, HttpReply } from './http-reply.ts';

/** Lets an answer come to harm on its way, after the answers before it on the connection; resolves when nothing more will leave. */
export async function deliverWithFault(
  response: ServerResponse,
  reply: HttpReply,
  damage: DeliveryFault,
): Promise<void> {
  const socket = await waitForSocket(response);
  if (socket === undefined || socket.destroyed) return;
  switch (damage.kind) {
    case 'drop':
      socket.destroySoon();
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'half':
      socket.write(firstHalf(reply, response.req.method === 'HEAD'));
      socket.destroySoon();
      return;
    case 'drip':
      await drip(socket, reply, response.req.method === 'HEAD', damage.pauseMs);
      return;
    default:
      damage satisfies never;
  }
}

/** An answer behind others of its connection has no socket yet; undefined when the connection ends before that. */
function waitForSocket(response: ServerResponse): Promise<Socket | undefined> {
  const { socket: connection } = response.req;
  if (response.socket !== null || connection.destroyed) return Promise.resolve(response.socket ?? undefined);
  return new Promise((resolve) => {
    const lost = (): void => resolve(undefined);
    connection.once('close', lost);
    response.once('socket', (socket: Socket) => {
      connection.off('close', lost);
      resolve(socket);
    });
  });
}

/** The whole head and half of the body it announces; of an answer without a body, half of the head. */
function firstHalf(reply: HttpReply, isHead: boolean): Buffer {
  const body = Buffer.from(isHead ? '' : reply.body);
  const head = headOf(reply, {});
  const length = body.length === 0 ? Math.ceil(head.length / 2) : head.length + Math.floor(body.length / 2);
  return Buffer.concat([head, body]).subarray(0, length);
}

/** Byte by byte; ended by whoever hangs up first. */
async function drip(socket: Socket, reply: HttpReply, isHead: boolean, pauseMs: number): Promise<void> {
  const bytes = Buffer.concat([headOf(reply, { connection: 'close' }), Buffer.from(isHead ? '' : reply.body)]);
  const gone = new AbortController();
  const hangUp = (): void => gone.abort();
  socket.once('close', hangUp);
  // Without it the kernel would hold small writes back and hand them over together.
  socket.setNoDelay(true);
  try {
    for (let at = 0; at < bytes.length; at += 1) {
      if (at > 0) await sleep(pauseMs, undefined, { signal: gone.signal });
      socket.write(bytes.subarray(at, at + 1));
    }
    socket.end(() => reply.sent?.());
    socket.destroySoon();
  } catch {
    // The pause was cut short: the other side has gone, and there is nobody to send the rest to.
  } finally {
    socket.off('close', hangUp);
  }
}

function headOf({ status, headers, body }: HttpReply, more: Readonly<Record<string, string>>): Buffer {
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...length, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1');
}
