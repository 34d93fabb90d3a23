import { sanitizeLine } from '../../../base/sanitize.ts';
import type { RedisConnection, RedisReply } from '../../../redis/connection.ts';
import { requireRedisReplyList } from './queries/reply.ts';

/** A sample of the keys of every database. */
export interface RedisKeySample {
  readonly keys: readonly SampledRedisKey[];
  /** Whether the sample contains every key. */
  readonly isAll: boolean;
}

interface SampledRedisKey {
  readonly database: number;
  /** The key name, sanitized for a terminal: bytes that are not text are replaced. */
  readonly name: string;
  /** The reply to TYPE: `string`, `ReJSON-RL`. */
  readonly type: string;
  /** Bytes of memory of the key; undefined before Redis 4.0, which does not report them. */
  readonly bytes: number | undefined;
}

const maxKeys = 256;
const maxDatabases = 64;

/**
 * Reads a few keys of each database: SCAN first, then TYPE and MEMORY USAGE. Throws a CommandError if the user may not
 * run SCAN.
 */
export async function sampleRedisKeys(session: RedisConnection, databases: readonly number[]): Promise<RedisKeySample> {
  const chosen = databases.slice(0, maxDatabases);
  const limit = Math.max(4, Math.floor(maxKeys / Math.max(1, chosen.length)));
  // SELECT is not sent for database 0, the default of a new connection, because a user or a proxy may not allow SELECT.
  const isDefaultOnly = chosen.length === 1 && chosen[0] === 0;
  const select = async (index: number) => {
    if (!isDefaultOnly) await session.send(['SELECT', String(index)]);
  };
  const found = await Promise.all(chosen.map((index) => scan(session, select, index, limit)));
  const keys = await Promise.all(
    found.map(({ index, names }) => describeKeys(session, select, index, names.slice(0, limit))),
  );
  const isAll =
    chosen.length === databases.length && found.every(({ isDone, names }) => isDone && names.length <= limit);
  return { keys: keys.flat(), isAll };
}

type SelectDatabase = (index: number) => Promise<void>;

async function scan(session: RedisConnection, select: SelectDatabase, index: number, count: number) {
  // The server executes the commands of one session in order, so SCAN reads the database of this SELECT.
  const selected = select(index);
  const [, reply] = await Promise.all([selected, session.sendRaw(['SCAN', '0', 'COUNT', String(count)])]);
  const [cursor, names] = requireRedisReplyList(reply);
  return {
    index,
    names: requireRedisReplyList(names).filter((name) => name instanceof Uint8Array),
    isDone: textOf(cursor) === '0',
  };
}

async function describeKeys(
  session: RedisConnection,
  select: SelectDatabase,
  index: number,
  names: readonly Uint8Array[],
): Promise<readonly SampledRedisKey[]> {
  const selected = select(index);
  const described = names.map(async (name): Promise<SampledRedisKey> => {
    // TYPE must succeed for a sample; MEMORY USAGE may fail, because Redis before 4.0 does not have it.
    const [type, bytes] = await Promise.all([
      session.send(['TYPE', name]),
      session.send(['MEMORY', 'USAGE', name]).catch(() => null),
    ]);
    return {
      database: index,
      name: sanitizeLine(textOf(name)),
      type: typeof type === 'string' ? type : 'none',
      bytes: typeof bytes === 'number' ? bytes : undefined,
    };
  });
  const [keys] = await Promise.all([Promise.all(described), selected]);
  // TYPE returns none for a key that has expired since the SCAN.
  return keys.filter(({ type }) => type !== 'none');
}

function textOf(reply: RedisReply | undefined): string {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString('utf8') : String(reply);
}
