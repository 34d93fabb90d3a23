import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { StateWriter } from './state-writer.ts';

/**
 * Holds the reply back until every change it may reveal is synced to disk: its own, and those of other requests that it may
 * have read. Becomes an empty 500 after a failed write.
 */
export function replyWhenSaved(
  reply: HttpReply | Promise<HttpReply>,
  writer: Pick<StateWriter, 'whenSaved'>,
): HttpReply | Promise<HttpReply> {
  if (reply instanceof Promise) return reply.then((settled) => replyWhenSaved(settled, writer));
  const saved = writer.whenSaved();
  return saved === undefined
    ? reply
    : saved.then(
        () => reply,
        () => emptyReply(500),
      );
}
