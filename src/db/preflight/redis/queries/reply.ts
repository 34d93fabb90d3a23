import type { RedisReply } from '../../../../redis/connection.ts';

/** Converts a flat list of names and values to a map. */
export function parseRedisReplyPairs(reply: RedisReply): ReadonlyMap<string, string> {
  const list = requireRedisReplyList(reply);
  return new Map(
    list.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[String(name), String(list[at + 1])]] : [])),
  );
}

/** Throws if the reply is not a list. */
export function requireRedisReplyList(reply: RedisReply | undefined): readonly RedisReply[] {
  if (Array.isArray(reply)) return reply;
  throw new Error('the reply is not a list');
}

/** Throws if the reply is not text. */
export function requireRedisReplyText(reply: RedisReply): string {
  if (typeof reply === 'string') return reply;
  throw new Error('the reply is not text');
}

/** Returns the value that follows a name in a list of alternating names and values. A value may itself be a list. */
export function findRedisReplyValue(reply: RedisReply, name: string): RedisReply | undefined {
  const list = requireRedisReplyList(reply);
  const at = list.findIndex((entry, index) => index % 2 === 0 && entry === name);
  return at < 0 ? undefined : list[at + 1];
}
