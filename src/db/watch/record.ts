import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { ActorIdentity } from '../../base/identity.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../../base/json.ts';
import { ensureFolder, listFolder, removeDurably, tryReadText, writeAtomically } from '../../platform/files.ts';
import { type HeldLock, tryAcquire } from '../../platform/locks.ts';
import { type Identity, type IdentityGrade, identityGrades } from './identity.ts';
import { decodeSourceBaseline, encodeBaseline, type SourceBaseline } from './postgresql/baseline.ts';
import type { RunKeys } from './redis/lost.ts';
import { type KnownStart, migrationTimeLimit } from './sample.ts';

/** The facts about a migration that are stored between two commands. The watch record contains no secret. */
export interface WatchRecord {
  readonly engine: 'postgresql' | 'redis';
  /** The source as `HOST:PORT/DBNAME`; for Redis as `HOST:PORT`. */
  readonly source: string;
  /** The start of the migration, which `db migrate` records after the service has accepted the request. */
  readonly started?: RecordedStart;
  /** Time at which a slot or a replica of the migration was first observed, in milliseconds since the epoch. */
  readonly firstSeen?: number;
  /** Slots, or replicas, of other consumers, which existed before the migration. */
  readonly before?: readonly string[];
  /** Slots, or replicas, of the migration that were observed. */
  readonly slots?: readonly RecordedSlot[];
  /** Ids of preflight checks that did not pass, used to sort likely causes of a failure. */
  readonly warned?: readonly string[];
  /**
   * The command-line options that select the source, without the password; absent until a migration was started. The
   * user and the TLS options are not part of `source`.
   */
  readonly sourceOptions?: readonly string[];
  /** URL of the target that `db cutover` connected to, without the password. */
  readonly target?: string;
  /** The keys of the run of the source in which it had all of them (Redis). */
  readonly runKeys?: RunKeys;
}

export interface RecordedSlot {
  readonly name: string;
  /** The database of the slot; empty for a Redis replica. */
  readonly database: string;
  /** How certain it is that the slot belongs to the migration, and the fact that says so. */
  readonly grade?: IdentityGrade;
  readonly by?: string;
  /** System identifier of the server whose table synchronization was seen beside the slot (PostgreSQL). */
  readonly system?: string;
}

export interface RecordedStart {
  /** Start time in milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the target cluster. */
  readonly cluster: string;
  /** Id of the migration at the service. */
  readonly id: string;
  /** The account that started the migration. */
  readonly identity: ActorIdentity;
}

export interface SourceAddress {
  readonly engine: 'postgresql' | 'redis';
  readonly host: string;
  readonly port: number;
  /** The database; undefined for Redis, where all databases are migrated. */
  readonly dbname?: string | undefined;
}

export function formatSourceName({ host, port, dbname }: SourceAddress): string {
  const place = host.includes(':') ? `[${host}]` : host.toLowerCase();
  return `${place}:${port}${dbname === undefined ? '' : `/${dbname}`}`;
}

/** Path of the watch record: `migrations/<fingerprint>.json` in the state folder. */
export function pathOfRecord(stateFolder: string, source: SourceAddress): string {
  const fingerprint = createHash('sha256')
    .update(`${source.engine} ${formatSourceName(source)}`)
    .digest('hex')
    .slice(0, 32);
  return join(stateFolder, 'migrations', `${fingerprint}.json`);
}

/**
 * Reads a watch record; undefined if it does not exist, is damaged or cannot be read. Without a record, the watch
 * observes the facts of the migration again.
 */
export function readRecord(path: string): WatchRecord | undefined {
  const json = tryParseJson(tryReadText(path) ?? '');
  return json.ok && isJsonRecord(json.value) ? decodeRecord(json.value) : undefined;
}

export function writeRecord(path: string, record: WatchRecord): void {
  ensureFolder(dirname(path));
  const { started, firstSeen, ...rest } = record;
  const dates = {
    ...(started === undefined ? {} : { started: { ...started, at: formatDate(started.at) } }),
    ...(firstSeen === undefined ? {} : { first_seen: formatDate(firstSeen) }),
  };
  writeAtomically(path, `${JSON.stringify({ version: 1, ...rest, ...dates }, null, 2)}\n`);
}

/** The slot or replica with the identity under which it is recorded. */
export function toRecordedSlot(
  { name, database }: Pick<RecordedSlot, 'name' | 'database'>,
  identity: Identity | undefined,
  system?: string,
): RecordedSlot {
  return {
    ...{ name, database },
    ...(identity === undefined ? {} : { grade: identity.grade, by: identity.by }),
    ...(system === undefined ? {} : { system }),
  };
}

/** The recorded start of the migration, else the time at which it was first observed. */
export function knownStart(
  record: { readonly started?: RecordedStart | undefined; readonly firstSeen?: number | undefined },
  now: number,
): KnownStart | undefined {
  // A recorded start that is older than twice the time limit belongs to an earlier migration.
  if (record.started !== undefined && now - record.started.at < 2 * migrationTimeLimit) {
    return { startedAt: record.started.at, from: 'migrate' };
  }
  return record.firstSeen === undefined ? undefined : { startedAt: record.firstSeen, from: 'first_sighting' };
}

function decodeRecord(json: JsonRecord): WatchRecord | undefined {
  const engine = readStringField(json, 'engine');
  const source = readStringField(json, 'source');
  if (readNumberField(json, 'version') !== 1 || source === undefined) return undefined;
  if (engine !== 'postgresql' && engine !== 'redis') return undefined;
  const started = isJsonRecord(json.started) ? decodeStarted(json.started) : undefined;
  const firstSeen = decodeDate(json, 'first_seen');
  const target = readStringField(json, 'target');
  return {
    engine,
    source,
    ...(started === undefined ? {} : { started }),
    ...(firstSeen === undefined ? {} : { firstSeen }),
    ...decodeList(json, 'before'),
    ...(Array.isArray(json.slots) ? { slots: json.slots.flatMap(decodeSlot) } : {}),
    ...decodeList(json, 'warned'),
    ...decodeList(json, 'sourceOptions'),
    ...(target === undefined ? {} : { target }),
    ...decodeRunKeys(json.runKeys),
  };
}

export function decodeRunKeys(json: unknown): Pick<WatchRecord, 'runKeys'> {
  if (!isJsonRecord(json)) return {};
  const [run, keys, at] = [readStringField(json, 'run'), readNumberField(json, 'keys'), readNumberField(json, 'at')];
  return run === undefined || keys === undefined || at === undefined ? {} : { runKeys: { run, keys, at } };
}

function decodeStarted(json: JsonRecord): RecordedStart | undefined {
  const [at, cluster, id] = [decodeDate(json, 'at'), readStringField(json, 'cluster'), readStringField(json, 'id')];
  if (at === undefined || cluster === undefined || id === undefined || !isJsonRecord(json.identity)) return undefined;
  return { at, cluster, id, identity: decodeIdentity(json.identity) };
}

export function decodeIdentity(json: JsonRecord): ActorIdentity {
  const keys = ['authOrigin', 'baseOrigin', 'clientId', 'accountUuid', 'team'] as const;
  return Object.fromEntries(
    keys.flatMap((key) => (readStringField(json, key) === undefined ? [] : [[key, json[key]]])),
  );
}

function decodeSlot(json: unknown): readonly RecordedSlot[] {
  if (!isJsonRecord(json)) return [];
  const [name, database] = [readStringField(json, 'name'), readStringField(json, 'database')];
  if (name === undefined || database === undefined) return [];
  const grade = identityGrades.find((one) => one === json.grade);
  const [by, system] = [readStringField(json, 'by'), readStringField(json, 'system')];
  return [
    {
      ...{ name, database },
      ...(grade === undefined || by === undefined ? {} : { grade, by }),
      ...(system === undefined ? {} : { system }),
    },
  ];
}

function decodeList<K extends 'before' | 'warned' | 'sourceOptions'>(json: JsonRecord, key: K) {
  return Array.isArray(json[key]) ? { [key]: readStringList(json[key]) } : {};
}

function decodeDate(json: JsonRecord, key: string): number | undefined {
  const at = Date.parse(readStringField(json, key) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function formatDate(at: number): string {
  return new Date(at).toISOString();
}

/**
 * Acquires the kernel lock of a lock file; undefined when another process still holds it after `limit` milliseconds. Blocks
 * the thread while it waits, so that a record can be read and replaced within one synchronous function. Throws a CliError
 * when the file cannot be locked.
 */
export function waitForFileLock(path: string, limit = 1000): HeldLock | undefined {
  for (let left = limit; ; left -= pauseMs) {
    const lock = tryAcquire(path);
    if (lock !== undefined || left <= 0) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

const pauseMs = 10;

/**
 * Reads and replaces a watch record under a lock, so that `db migrate`, `db watch` and `db cutover` do not undo each other's
 * changes. Returns false when another process held the lock for too long; the record is then unchanged. Throws errors of the
 * file system, and a CliError when the record cannot be locked.
 * @param change returns the new record, or undefined if the record needs no change; called once without the lock and once
 *   with it
 */
export function changeRecord(
  path: string,
  change: (record: WatchRecord | undefined) => WatchRecord | undefined,
): boolean {
  // Most polls of a watch change nothing, and need no lock.
  if (change(readRecord(path)) === undefined) return true;
  const lock = waitForFileLock(`${path}.lock`);
  if (lock === undefined) return false;
  try {
    const changed = change(readRecord(path));
    if (changed !== undefined) writeRecord(path, changed);
    return true;
  } finally {
    lock.release();
  }
}

/** The watch record of a migration that `db migrate` started on this machine. */
export type StartedRecord = WatchRecord & { readonly started: RecordedStart };

/** The recorded migrations that this machine started, the latest first; they may have ended. */
export function listStarted(stateFolder: string): readonly StartedRecord[] {
  const folder = join(stateFolder, 'migrations');
  return listFolder(folder)
    .filter((name) => /^[0-9a-f]{32}\.json$/.test(name))
    .flatMap((name) => {
      const record = readRecord(join(folder, name));
      return record?.started === undefined ? [] : [{ ...record, started: record.started }];
    })
    .sort((one, other) => other.started.at - one.started.at);
}

/** `migrations/baseline-<fingerprint>.json` in the state folder: one for each source and target cluster. */
export function pathOfBaseline(stateFolder: string, source: SourceAddress, cluster: string): string {
  const fingerprint = createHash('sha256')
    .update(`${source.engine} ${formatSourceName(source)} ${cluster}`)
    .digest('hex')
    .slice(0, 32);
  return join(stateFolder, 'migrations', `baseline-${fingerprint}.json`);
}

/**
 * Returns undefined if there is no baseline, or if its file is damaged or unreadable. A watch then uses its first poll
 * as the baseline.
 */
export function loadBaseline(path: string): SourceBaseline | undefined {
  const json = tryParseJson(tryReadText(path) ?? '');
  if (!json.ok || !isJsonRecord(json.value) || readNumberField(json.value, 'version') !== 1) return undefined;
  return decodeSourceBaseline(json.value);
}

/**
 * Writes the baseline of a migration that starts now.
 * @param baseline undefined: the source could not be read, and the baseline of an earlier migration is removed
 */
export function storeBaseline(path: string, baseline: SourceBaseline | undefined): void {
  if (baseline === undefined) {
    removeDurably(path);
    return;
  }
  ensureFolder(dirname(path));
  writeAtomically(path, `${JSON.stringify({ version: 1, ...encodeBaseline(baseline) })}\n`);
}
