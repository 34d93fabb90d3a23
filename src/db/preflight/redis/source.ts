import type { Socket } from 'node:net';
import { sanitizeLine } from '../../../base/sanitize.ts';
import { formatBytes } from '../../../base/text.ts';
import { createLimit, type MemoryLimit } from '../../../platform/memory.ts';
import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { parseErrorCode, redactServerMessage } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection, type RedisReply } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { infoNumber, type RedisInfo } from '../../../redis/info.ts';
import { openSocket } from '../../../redis/redis-socket.ts';
import { authenticateRedis, type RedisConnectOptions, requestLine } from '../../../redis/resp.ts';
import { isServerAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type AddressFacts, findReachable, type TlsFacts } from '../network/addresses.ts';
import { type QueryResult, valueOr } from '../query.ts';
import { type ConfigValues, type ReplicationSetting, requireList } from './queries.ts';

/** A write to a closed connection fails with EPIPE or ECONNRESET. */
export const disconnectCodes: ReadonlySet<string> = new Set([clientErrorCodes.closed, 'EPIPE']);

export interface OpenedSource {
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** The open session, which the caller must end; undefined if the connection or the login failed. */
  readonly session: RedisConnection | undefined;
  /** The source with the IP address that the connection was made to. */
  readonly source: RedisEndpoint;
  /** Memory limit that all sessions of the preflight share, because their replies are kept. */
  readonly memory: MemoryLimit;
}

interface OpenOptions extends Omit<RedisConnectOptions, 'limit'> {
  readonly signal: AbortSignal;
}

/** Time limits in milliseconds: for the host name, for TCP, and for TLS with AUTH and PING. */
const connectTimeout = 5000;

/**
 * Looks up the host of the Redis source, connects and authenticates. A failed connection is part of the result and does
 * not throw.
 */
export async function openRedisSource(given: RedisEndpoint, options: OpenOptions): Promise<OpenedSource> {
  const { signal } = options;
  const memory = createLimit('always');
  const search = findReachable(given.host, given.port, { contradictions: [], limit: connectTimeout, signal });
  const reachable = await search.firstReachable;
  if (reachable === undefined) {
    const address = await search.facts;
    return { address, tls: tlsNotTried, connection: unreachable(address), session: undefined, source: given, memory };
  }
  const source = { ...given, address: reachable };
  try {
    const [session, address] = await Promise.all([
      connectRedis(source, { ...options, limit: connectTimeout, memory }),
      search.facts,
    ]);
    const tls: TlsFacts =
      session.tls === undefined ? tlsNotTried : { offered: 'yes', ...session.tls, verified: source.ca !== undefined };
    return { address, tls, connection: { kind: 'connected', ...session.authentication }, session, source, memory };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message } = error;
    const connection: RedisConnectionResult = { kind: 'refused', phase, code, message };
    return { address: await search.facts, tls: tlsFactsOf(error), connection, session: undefined, source, memory };
  }
}

/**
 * The name of the ACL user that the session uses. AUTH is not sent without a password, even if a user name was given; a
 * Redis replica does the same.
 */
export function authenticatedUser({ username }: RedisEndpoint, connection: RedisConnectionResult): string {
  return connection.kind === 'connected' && connection.auth === 'password' ? (username ?? 'default') : 'default';
}

const tlsNotTried: TlsFacts = { offered: 'not_asked' };

function tlsFactsOf({ phase, code, message }: ConnectError): TlsFacts {
  if (code === clientErrorCodes.noTls) return { offered: 'no', plaintext: 'accepted' };
  if (code === clientErrorCodes.onlyTls) return { offered: 'yes', plaintext: 'refused' };
  return phase === 'tls' ? { offered: 'yes', failure: message } : tlsNotTried;
}

function unreachable(address: AddressFacts): RedisConnectionResult {
  const code = address.connects.find(({ error }) => error !== undefined)?.error ?? 'ENOTFOUND';
  const message = address.lookup.kind === 'failed' ? address.lookup.reason : `no connection (${code})`;
  return { kind: 'refused', phase: 'network', code, message };
}

/** The description of `--probe`, for the help and for the report. */
export const probeDescription =
  'A probe requests a full synchronization on a connection of its own, as the target will (REPLCONF, PSYNC ? -1), and disconnects when the copy begins. The source forks a child that begins a BGSAVE; nothing else changes.';

interface PsyncProbeOptions extends RedisConnectOptions {
  /** Time limit in milliseconds from the reply to PSYNC to the first byte of the copy. */
  readonly copyLimit: number;
}

/**
 * Requests a full synchronization with PSYNC, and disconnects when the copy begins. The source forks for a BGSAVE
 * because of PSYNC.
 */
export async function probePsync(source: RedisEndpoint, options: PsyncProbeOptions): Promise<PsyncResult> {
  try {
    const { socket } = await openSocket(source, options);
    try {
      await authenticateRedis(socket, source, options);
      // REPLCONF, the first command of a replica, allows the source to send the copy without a file.
      const greeting = await requestLine(socket, ['REPLCONF', 'capa', 'eof', 'capa', 'psync2'], options);
      const replconf = greeting.startsWith('-') ? { replconf: redactServerMessage(greeting.slice(1), source) } : {};
      const reply = await requestLine(socket, ['PSYNC', '?', '-1'], options);
      if (reply.startsWith('-')) {
        const message = redactServerMessage(reply.slice(1), source);
        // For a copy through a file the source forks before it replies to PSYNC.
        if (/\bBGSAVE failed\b/.test(message)) {
          return {
            kind: 'accepted',
            reply: 'a copy was attempted',
            copy: { kind: 'failed', reason: message },
            ...replconf,
          };
        }
        return { kind: 'refused', code: parseErrorCode(message), message };
      }
      const copy = await awaitCopy(socket, reply, source, options);
      return { kind: 'accepted', reply: reply === '' ? 'the copy was started' : reply, copy, ...replconf };
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (error instanceof ConnectError) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}

/**
 * The source sends empty lines while it forks, waits for other replicas (repl-diskless-sync-delay), or writes the RDB
 * file. The copy begins with `$` and its length, or with `$EOF:` if the source sends it without a file.
 */
async function awaitCopy(
  socket: Socket,
  reply: string,
  source: RedisEndpoint,
  options: PsyncProbeOptions,
): Promise<CopyStart> {
  const end = performance.now() + options.copyLimit;
  let line = reply;
  try {
    while (!line.startsWith('$')) {
      if (line.startsWith('-')) return { kind: 'failed', reason: redactServerMessage(line.slice(1), source) };
      const left = end - performance.now();
      if (left <= 0) return copyIsLate(options);
      line = await requestLine(socket, undefined, { ...options, limit: left });
    }
    return { kind: 'started' };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return error.code === clientErrorCodes.timeout ? copyIsLate(options) : { kind: 'failed', reason: error.message };
  }
}

function copyIsLate({ copyLimit }: PsyncProbeOptions): CopyStart {
  return { kind: 'late', reason: `the copy did not begin within ${Math.round(copyLimit / 1000)} s` };
}

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
  /** Milliseconds by which the clock of the source is ahead of that of this machine; undefined if not reported. */
  readonly clockOffset?: number | undefined;
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
  /** Changes besides these; undefined if there were none. */
  readonly changes?: number | undefined;
}

export type PsyncResult =
  | {
      readonly kind: 'accepted';
      readonly reply: string;
      readonly copy: CopyStart;
      /** The error in the reply to REPLCONF; absent if there was none. */
      readonly replconf?: string;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Whether the copy began after PSYNC was accepted; the source may fail to fork or to write the RDB file. */
export type CopyStart =
  | { readonly kind: 'started' }
  /** `reason` is a clause: `the server closed the connection`. */
  | { readonly kind: 'failed' | 'late'; readonly reason: string };

/**
 * Bytes of memory that the server may use in addition to the present use, without eviction of keys, refused writes or
 * lack of memory on the machine. undefined if the server does not report its memory. A container may have less memory
 * than INFO reports for the machine.
 */
export function freeMemory(info: RedisInfo): number | undefined {
  const used = infoNumber(info, 'used_memory');
  const limit = infoNumber(info, 'maxmemory');
  const machine = freeHostMemory(info);
  if (used === undefined || limit === undefined) return undefined;
  if (limit === 0) return machine;
  const counted = used - (infoNumber(info, 'mem_not_counted_for_evict') ?? 0);
  const room = Math.max(0, limit - counted - limit * reserve);
  return machine === undefined ? room : Math.min(room, machine);
}

/**
 * Bytes of memory of the machine that are free for this server, less a reserve; undefined if the server does not report
 * them.
 */
export function freeHostMemory(info: RedisInfo): number | undefined {
  const total = infoNumber(info, 'total_system_memory');
  const used = Math.max(infoNumber(info, 'used_memory_rss') ?? 0, infoNumber(info, 'used_memory') ?? 0);
  if (total === undefined || total === 0 || used === 0) return undefined;
  return Math.max(0, total * (1 - 2 * reserve) - used);
}

/** The fraction of a memory limit that is kept in reserve, because data grows while the migration runs. */
const reserve = 0.1;

interface DisklessReplication {
  /** The value of `repl-diskless-sync`; undefined if the server hides CONFIG. */
  readonly setting: string | undefined;
  readonly isDiskless: boolean;
}

/** Whether a replica receives the initial copy without a file on the disk of the source. */
export function disklessReplication(
  settings: QueryResult<ConfigValues<ReplicationSetting>>,
  info: RedisInfo | undefined,
): DisklessReplication {
  const setting = valueOr(settings, undefined)?.get('repl-diskless-sync');
  if (setting !== undefined) return { setting, isDiskless: setting === 'yes' };
  // The default of `repl-diskless-sync` is yes in Redis 7.0 and newer, and in every version of Valkey.
  const version = info === undefined ? undefined : parseServerVersion(info);
  const isDiskless = isServerAtLeast(version, 7, 0);
  return { setting, isDiskless };
}

/** The amount of data to copy, and the estimated duration of the copy. */
export interface CopyEstimate {
  /** Bytes of memory that the data uses, without buffers and overhead. */
  readonly bytes: number;
  /** Estimated seconds to dump and transfer the data, at 50 and at 20 MB/s. */
  readonly shortest: number;
  readonly longest: number;
}

const fastBytesPerSecond = 50e6;
const slowBytesPerSecond = 20e6;

/** The copy estimate; undefined if the server does not report its memory. */
export function estimateRedisCopy(info: RedisInfo): CopyEstimate | undefined {
  const used = infoNumber(info, 'used_memory');
  const data = infoNumber(info, 'used_memory_dataset') ?? used;
  if (data === undefined) return undefined;
  // An empty Valkey cluster reports more overhead than used memory, and the unsigned difference of the two is a huge
  // number.
  const bytes = Math.min(data, used ?? data);
  const fork = (infoNumber(info, 'latest_fork_usec') ?? 0) / 1e6;
  return {
    bytes,
    shortest: Math.max(1, fork + bytes / fastBytesPerSecond),
    longest: Math.max(1, fork + bytes / slowBytesPerSecond),
  };
}

/**
 * Describes the measured write rate: `1.2 MB/s written`. A write rate that was measured as network traffic is an upper
 * bound.
 */
export function formatWriteRate({ rate }: RedisSourceFacts): string {
  if (rate?.writes === undefined) return 'the write rate could not be measured';
  if (rate.writes === 0) return 'the measurement found no writes';
  return `${rate.source === 'network' ? 'at most ' : ''}${formatBytes(rate.writes)}/s written`;
}
