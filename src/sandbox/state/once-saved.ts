import { empty, type Reply } from '../http/reply.ts';
import type { Keeper } from './keeper.ts';

/**
 * The reply, when all it can tell of is on the disk: its own changes, and those of others that it may have seen.
 * Without a disk that takes them it tells nothing.
 */
export function onceSaved(reply: Reply | Promise<Reply>, keeper: Pick<Keeper, 'saved'>): Reply | Promise<Reply> {
  if (reply instanceof Promise) return reply.then((late) => onceSaved(late, keeper));
  const saved = keeper.saved();
  return saved === undefined
    ? reply
    : saved.then(
        () => reply,
        () => empty(500),
      );
}
