import type { Reply } from '../../../redis/connection.ts';

/** A flat list of names and values. */
export function pairsOf(reply: Reply): ReadonlyMap<string, string> {
  const list = listOf(reply);
  return new Map(
    list.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[String(name), String(list[at + 1])]] : [])),
  );
}

export function listOf(reply: Reply | undefined): readonly Reply[] {
  if (Array.isArray(reply)) return reply;
  throw new Error('the reply is no list');
}

/** The value behind a name in a flat list whose values may be lists. */
export function valueAfter(reply: Reply, name: string): Reply | undefined {
  const list = listOf(reply);
  const at = list.findIndex((word, index) => index % 2 === 0 && word === name);
  return at < 0 ? undefined : list[at + 1];
}
