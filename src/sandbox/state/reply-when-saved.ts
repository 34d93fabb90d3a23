import { emptyReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxStateWriter } from './state-writer.ts';

/**
 * Delays the reply until every change that it may reveal is synced to the disk: the changes of its own request and those of
 * other requests that it may have read. After a failed write, the reply becomes a 500 with an empty body.
 */
export function replyWhenSaved(
  reply: SandboxHttpReply | Promise<SandboxHttpReply>,
  writer: Pick<SandboxStateWriter, 'whenSaved'>,
): SandboxHttpReply | Promise<SandboxHttpReply> {
  if (reply instanceof Promise) return reply.then((settled) => replyWhenSaved(settled, writer));
  const saved = writer.whenSaved();
  return saved === undefined
    ? reply
    : saved.then(
        () => reply,
        () => emptyReply(500),
      );
}
