import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { SandboxStateWriter } from './state-writer.ts';

/**
 * Delays the reply until every change that it may reveal is synced to the disk: the changes of its own request and those of
 * other requests that it may have read. After a failed write, the reply becomes a 500 with an empty body.
 */
export function replyWhenSaved(
  reply: HttpReply | Promise<HttpReply>,
  writer: Pick<SandboxStateWriter, 'whenSaved'>,
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
