import { sanitizeLine } from '../../../base/sanitize.ts';
import type { RedisConnection, RedisReply } from '../../../redis/connection.ts';
import type { AddressFacts, TlsFacts } from '../network/addresses.ts';
import type { QueryResult } from '../query.ts';
import { requireList } from './queries.ts';

/** A sample of the keys of every database. */
export interface KeySample {
  readonly keys: readonly SampledKey[];
  /** Whether the sample contains every key. */
  readonly isAll: boolean;
}

interface SampledKey {
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
export async function sampleKeys(session: RedisConnection, databases: readonly number[]): Promise<KeySample> {
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
  const [cursor, names] = requireList(reply);
  return {
    index,
    names: requireList(names).filter((name) => name instanceof Uint8Array),
    isDone: textOf(cursor) === '0',
  };
}

async function describeKeys(
  session: RedisConnection,
  select: SelectDatabase,
  index: number,
  names: readonly Uint8Array[],
): Promise<readonly SampledKey[]> {
  const selected = select(index);
  const described = names.map(async (name): Promise<SampledKey> => {
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

/** Facts about a Redis source besides the query results: the connection and the measurements. */
export interface RedisSourceFacts {
  readonly host: string;
  readonly port: number;
  /** The ACL user of the session: `default` unless AUTH was sent with another name. */
  readonly user: string;
  /** Whether a user name was given without a password, so that the name was not used. */
  readonly isUsernameUnused?: boolean | undefined;
  readonly ssl: boolean;
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** Why the connection broke before every query had a reply; undefined if it did not break. */
  readonly broken: string | undefined;
  /** The error that broke the connection when all queries were sent at once, but not when they were sent one by one. */
  readonly pipelineFailure?: string | undefined;
  /** The BUSY error of a server that runs a script; undefined if no such error was received. */
  readonly busy: string | undefined;
  /** The activity from two replies to INFO; undefined if it could not be measured. */
  readonly rate: ActivityRate | undefined;
  readonly sample: QueryResult<KeySample>;
  readonly renamed: QueryResult<RenamedCommands>;
  /** The reply to the PSYNC of `--probe`; undefined if PSYNC was not sent. */
  readonly probe: PsyncResult | undefined;
}

/** Write commands that exist only under another name (rename-command). */
export interface RenamedCommands {
  /** Names of the renamed commands that were called since the server started. */
  readonly called: readonly string[];
  /** Names of the renamed commands that were not called since the server started. */
  readonly uncalled: readonly string[];
}

export type RedisConnectionResult =
  | {
      readonly kind: 'connected';
      /**
       * `needless`: a password was given, but the server has none; `open`: no password was given and none is required.
       */
      readonly auth: 'password' | 'needless' | 'open';
      /** The server's reply to AUTH if the server requires no password. */
      readonly authReply?: string;
      /** An error in the reply to PING that does not end the session: LOADING, MASTERDOWN, MISCONF, NOPERM. */
      readonly notice?: { readonly code: string; readonly message: string };
    }
  /** `code`: the first word of the server's error, a code of the operating system, or one of `clientErrorCodes`. */
  | {
      readonly kind: 'refused';
      readonly phase: 'network' | 'tls' | 'startup';
      readonly code: string;
      readonly message: string;
    };

/** Average activity of the server per second: written bytes, and evicted and expired keys. */
export interface ActivityRate {
  /** Bytes that are written per second; undefined if the server does not report them. */
  readonly writes: number | undefined;
  /**
   * How the source measured the bytes in `writes`: `stream`: bytes of the replication stream; `writes`: received bytes
   * of commands, most of them writes; `network`: received bytes of any kind.
   */
  readonly source: 'stream' | 'writes' | 'network';
  readonly evicted: number;
  readonly expired: number;
}

export type PsyncResult =
  | { readonly kind: 'accepted'; readonly reply: string; readonly copy: CopyStart }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Whether the copy began after PSYNC was accepted; the source may fail to fork or to write the RDB file. */
export type CopyStart =
  | { readonly kind: 'started' }
  /** `reason` is a clause: `the server closed the connection`. */
  | { readonly kind: 'failed' | 'late'; readonly reason: string };
