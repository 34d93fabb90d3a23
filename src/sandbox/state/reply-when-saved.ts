import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { StateWriter } from './state-writer.ts';

/**
 * The reply, when all it can tell of is on the disk: its own changes, and those of others that it may have seen.
 * Without a disk that takes them it tells nothing.
 */
export function replyWhenSaved(
  reply: HttpReply | Promise<HttpReply>,
  keeper: Pick<StateWriter, 'saved'>,
): HttpReply | Promise<HttpReply> {
  if (reply instanceof Promise) return reply.then((late) => replyWhenSaved(late, keeper));
  const saved = keeper.saved();
  return saved === undefined
    ? reply
    : saved.then(
        () => reply,
        () => emptyReply(500),
      );
}
