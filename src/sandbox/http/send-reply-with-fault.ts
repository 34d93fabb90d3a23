import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyTransmissionFault, SandboxHttpReply } from './http-reply.ts';

/**
 * Sends the faulty reply after the earlier responses of the same connection. Resolves when no more bytes of the reply will be
 * sent.
 */
export async function sendReplyWithFault(
  response: ServerResponse,
  reply: SandboxHttpReply,
  fault: ReplyTransmissionFault,
): Promise<void> {
  const socket = await waitForSocket(response);
  if (socket === undefined || socket.destroyed) return;
  const isHead = response.req.method === 'HEAD';
  switch (fault.kind) {
    case 'drop':
      socket.destroySoon();
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'half':
      socket.write(firstHalf(reply, isHead));
      socket.destroySoon();
      return;
    case 'drip':
      await drip(socket, reply, isHead, fault.pauseMs);
      return;
    default:
      fault satisfies never;
  }
}

/** Node assigns the socket when the earlier responses of the connection were sent; undefined when the connection closes before. */
function waitForSocket(response: ServerResponse): Promise<Socket | undefined> {
  const { socket: connection } = response.req;
  if (response.socket !== null || connection.destroyed) return Promise.resolve(response.socket ?? undefined);
  return new Promise((resolve) => {
    const onClose = (): void => resolve(undefined);
    connection.once('close', onClose);
    response.once('socket', (socket: Socket) => {
      connection.off('close', onClose);
      resolve(socket);
    });
  });
}

/** Returns the whole head and half of the body; for a reply without a body, half of the head. */
function firstHalf(reply: SandboxHttpReply, isHead: boolean): Buffer {
  const body = Buffer.from(isHead ? '' : reply.body);
  const head = headOf(reply, {});
  const length = body.length === 0 ? Math.ceil(head.length / 2) : head.length + Math.floor(body.length / 2);
  return Buffer.concat([head, body]).subarray(0, length);
}

/** Sends one byte at a time until the reply is complete or the client disconnects. */
async function drip(socket: Socket, reply: SandboxHttpReply, isHead: boolean, pauseMs: number): Promise<void> {
  const bytes = Buffer.concat([headOf(reply, { connection: 'close' }), Buffer.from(isHead ? '' : reply.body)]);
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  socket.once('close', onClose);
  // Without TCP_NODELAY, the kernel would collect small writes and send them together.
  socket.setNoDelay(true);
  try {
    for (let at = 0; at < bytes.length; at += 1) {
      if (at > 0) await sleep(pauseMs, undefined, { signal: closed.signal });
      socket.write(bytes.subarray(at, at + 1));
    }
    socket.end(() => reply.sent?.());
    socket.destroySoon();
  } catch {
    // The client has disconnected during a pause between two bytes.
  } finally {
    socket.off('close', onClose);
  }
}

function headOf({ status, headers, body }: SandboxHttpReply, more: Readonly<Record<string, string>>): Buffer {
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...length, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`, 'latin1');
}
