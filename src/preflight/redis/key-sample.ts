import { sanitizeRemoteText } from '../../platform/sanitize-remote-text.ts';
import type { RedisCommand, RedisReply, RedisSession } from '../../redis/connection.ts';
import { replyList } from './queries/reply.ts';

/** Some keys of every database. */
export interface KeySample {
  readonly keys: readonly SampledKey[];
  /** There are no others. */
  readonly isAll: boolean;
}

export interface SampledKey {
  readonly database: number;
  /** Fit for a terminal: bytes that are no text are replaced. */
  readonly name: string;
  /** As TYPE says: `string`, `ReJSON-RL`. */
  readonly type: string;
  /** Memory it takes; undefined: not told (before 4.0). */
  readonly bytes: number | undefined;
}

const most = 256;
const mostDatabases = 64;

/** Looks at a few keys, in two rounds. Throws the CommandError of SCAN when that is denied. */
export async function sampleKeys(
  session: RedisSession,
  databases: readonly number[],
  heard: (words: RedisCommand) => void,
): Promise<KeySample> {
  const chosen = databases.slice(0, mostDatabases);
  const each = Math.max(4, Math.floor(most / Math.max(1, chosen.length)));
  // A new connection is in database 0, and SELECT may be what a user or a proxy is refused.
  const isAlone = chosen.length === 1 && chosen[0] === 0;
  const enter = (index: number) => (isAlone ? undefined : select(session, index, heard));
  const found = await Promise.all(chosen.map((index) => scan(session, enter, index, each, heard)));
  const keys = await Promise.all(
    found.map(({ index, names }) => look(session, enter, index, names.slice(0, each), heard)),
  );
  const isAll = chosen.length === databases.length && found.every(({ done, names }) => done && names.length <= each);
  return { keys: keys.flat(), isAll };
}

type Enter = (index: number) => Promise<void> | undefined;

async function scan(
  session: RedisSession,
  enter: Enter,
  index: number,
  count: number,
  heard: (words: RedisCommand) => void,
) {
  const words: RedisCommand = ['SCAN', '0', 'COUNT', String(count)];
  // Commands of one session are answered in order, so the database chosen here is the one scanned.
  const chosen = enter(index);
  heard(words);
  const [, reply] = await Promise.all([chosen, session.sendRaw(words)]);
  const [cursor, names] = replyList(reply);
  return { index, names: replyList(names).filter((name) => name instanceof Uint8Array), done: textOf(cursor) === '0' };
}

async function look(
  session: RedisSession,
  enter: Enter,
  index: number,
  names: readonly Uint8Array[],
  heard: (words: RedisCommand) => void,
): Promise<readonly SampledKey[]> {
  const chosen = enter(index);
  const send = (words: RedisCommand) => {
    heard(words);
    return session.send(words);
  };
  const answers = names.map(async (name): Promise<SampledKey> => {
    // Sizes are a gift (4.0 and later); without types the sample says nothing.
    const [type, bytes] = await Promise.all([send(['TYPE', name]), send(['MEMORY', 'USAGE', name]).catch(() => null)]);
    return {
      database: index,
      name: sanitizeRemoteText(textOf(name)),
      type: typeof type === 'string' ? type : 'none',
      bytes: typeof bytes === 'number' ? bytes : undefined,
    };
  });
  const [keys] = await Promise.all([Promise.all(answers), chosen]);
  // A key that expired in between is of no type.
  return keys.filter(({ type }) => type !== 'none');
}

async function select(session: RedisSession, index: number, heard: (words: RedisCommand) => void): Promise<void> {
  const words: RedisCommand = ['SELECT', String(index)];
  heard(words);
  await session.send(words);
}

function textOf(reply: RedisReply | undefined): string {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString('utf8') : String(reply);
}
