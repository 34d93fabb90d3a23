import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Identity } from '../identity.ts';
import { isRecord, type JsonRecord, numberField, parseJson, stringField, stringsOfList } from '../json.ts';
import { ensureFolder, readTextIfReadable, writeAtomically } from '../platform/files.ts';
import { type MigrationStart, migrationTimeLimit } from './migration-deadline.ts';

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
}

export interface RecordedSlot {
  readonly name: string;
  /** The database of the slot; empty for a Redis replica. */
  readonly database: string;
}

export interface RecordedStart {
  /** Start time in milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the target cluster. */
  readonly cluster: string;
  /** Id of the migration at the service. */
  readonly id: string;
  /** The account that started the migration; absent in records of earlier versions. */
  readonly identity?: Identity;
}

export interface SourceIdentity {
  readonly engine: 'postgresql' | 'redis';
  readonly host: string;
  readonly port: number;
  /** undefined: Redis, where all databases are migrated. */
  readonly dbname?: string | undefined;
}

export function formatSourceName({ host, port, dbname }: SourceIdentity): string {
  const place = host.includes(':') ? `[${host}]` : host.toLowerCase();
  return `${place}:${port}${dbname === undefined ? '' : `/${dbname}`}`;
}

/** Path of the watch record: `migrations/<fingerprint>.json` in the state folder. */
export function watchRecordPath(stateFolder: string, source: SourceIdentity): string {
  const fingerprint = createHash('sha256')
    .update(`${source.engine} ${formatSourceName(source)}`)
    .digest('hex')
    .slice(0, 32);
  return join(stateFolder, 'migrations', `${fingerprint}.json`);
}

/**
 * Reads a watch record; undefined if it does not exist, is damaged or cannot be read. Without a record, its facts are
 * observed again.
 */
export function readWatchRecord(path: string): WatchRecord | undefined {
  const json = parseJson(readTextIfReadable(path) ?? '');
  return json.ok && isRecord(json.value) ? decodeRecord(json.value) : undefined;
}

export function writeWatchRecord(path: string, record: WatchRecord): void {
  ensureFolder(dirname(path));
  const { started, firstSeen, ...rest } = record;
  const dates = {
    ...(started === undefined ? {} : { started: { ...started, at: formatDate(started.at) } }),
    ...(firstSeen === undefined ? {} : { first_seen: formatDate(firstSeen) }),
  };
  writeAtomically(path, `${JSON.stringify({ version: 1, ...rest, ...dates }, null, 2)}\n`);
}

/** The recorded start of the migration, else the time at which it was first observed. */
export function migrationStartOf(
  record: { readonly started?: RecordedStart | undefined; readonly firstSeen?: number | undefined },
  now: number,
): MigrationStart | undefined {
  // A recorded start that is older than twice the time limit belongs to an earlier migration.
  if (record.started !== undefined && now - record.started.at < 2 * migrationTimeLimit) {
    return { startedAt: record.started.at, from: 'migrate' };
  }
  return record.firstSeen === undefined ? undefined : { startedAt: record.firstSeen, from: 'first_sighting' };
}

function decodeRecord(json: JsonRecord): WatchRecord | undefined {
  const engine = stringField(json, 'engine');
  const source = stringField(json, 'source');
  if (numberField(json, 'version') !== 1 || source === undefined) return undefined;
  if (engine !== 'postgresql' && engine !== 'redis') return undefined;
  const started = isRecord(json.started) ? decodeStarted(json.started) : undefined;
  const firstSeen = decodeDate(json, 'first_seen');
  return {
    engine,
    source,
    ...(started === undefined ? {} : { started }),
    ...(firstSeen === undefined ? {} : { firstSeen }),
    ...decodeList(json, 'before'),
    ...(Array.isArray(json.slots) ? { slots: json.slots.flatMap(decodeSlot) } : {}),
    ...decodeList(json, 'warned'),
  };
}

function decodeStarted(json: JsonRecord): RecordedStart | undefined {
  const [at, cluster, id] = [decodeDate(json, 'at'), stringField(json, 'cluster'), stringField(json, 'id')];
  if (at === undefined || cluster === undefined || id === undefined) return undefined;
  return { at, cluster, id, ...(isRecord(json.identity) ? { identity: decodeIdentity(json.identity) } : {}) };
}

export function decodeIdentity(json: JsonRecord): Identity {
  const keys = ['authOrigin', 'baseOrigin', 'clientId', 'accountUuid', 'team'] as const;
  return Object.fromEntries(keys.flatMap((key) => (stringField(json, key) === undefined ? [] : [[key, json[key]]])));
}

function decodeSlot(json: unknown): readonly RecordedSlot[] {
  if (!isRecord(json)) return [];
  const [name, database] = [stringField(json, 'name'), stringField(json, 'database')];
  return name === undefined || database === undefined ? [] : [{ name, database }];
}

function decodeList<K extends 'before' | 'warned'>(json: JsonRecord, key: K) {
  return Array.isArray(json[key]) ? { [key]: stringsOfList(json[key]) } : {};
}

function decodeDate(json: JsonRecord, key: string): number | undefined {
  const at = Date.parse(stringField(json, key) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function formatDate(at: number): string {
  return new Date(at).toISOString();
}
