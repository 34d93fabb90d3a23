import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { AccountAndServerOrigins } from '../../base/identity.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../../base/json.ts';
import { ensureFolder, readTextIfReadable, writeFileAtomically } from '../../platform/files.ts';
import { type Identity, type IdentityGrade, identityGrades } from './identity.ts';
import { type KnownMigrationStart, migrationTimeLimit } from './migration-deadline.ts';

/** The facts about a migration that are stored between two commands. The watch record contains no secret. */
export interface MigrationWatchRecord {
  readonly engine: 'postgresql' | 'redis';
  /** The source as `HOST:PORT/DBNAME`; for Redis as `HOST:PORT`. */
  readonly source: string;
  /** The start of the migration, which `db migrate` records after the service has accepted the request. */
  readonly started?: RecordedMigrationStart;
  /** Time at which a slot or a replica of the migration was first observed, in milliseconds since the epoch. */
  readonly firstSeen?: number;
  /** Slots, or replicas, of other consumers, which existed before the migration. */
  readonly before?: readonly string[];
  /** Slots, or replicas, of the migration that were observed. */
  readonly slots?: readonly RecordedMigrationSlot[];
  /** Ids of preflight checks that did not pass, used to sort likely causes of a failure. */
  readonly warned?: readonly string[];
  /**
   * The command-line options that select the source, without the password; absent until a migration was started. The
   * user and the TLS options are not part of `source`.
   */
  readonly sourceOptions?: readonly string[];
  /** URL of the target that `db cutover` connected to, without the password. */
  readonly target?: string;
}

export interface RecordedMigrationSlot {
  readonly name: string;
  /** The database of the slot; empty for a Redis replica. */
  readonly database: string;
  /** How certain it is that the slot belongs to the migration, and the fact that says so. */
  readonly grade?: IdentityGrade;
  readonly by?: string;
  /** System identifier of the server whose table synchronization was seen beside the slot (PostgreSQL). */
  readonly system?: string;
}

export interface RecordedMigrationStart {
  /** Start time in milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the target cluster. */
  readonly cluster: string;
  /** Id of the migration at the service. */
  readonly id: string;
  /** The account that started the migration. */
  readonly identity: AccountAndServerOrigins;
}

export interface WatchedSourceAddress {
  readonly engine: 'postgresql' | 'redis';
  readonly host: string;
  readonly port: number;
  /** The database; undefined for Redis, where all databases are migrated. */
  readonly dbname?: string | undefined;
}

export function formatSourceName({ host, port, dbname }: WatchedSourceAddress): string {
  const place = host.includes(':') ? `[${host}]` : host.toLowerCase();
  return `${place}:${port}${dbname === undefined ? '' : `/${dbname}`}`;
}

/** Path of the watch record: `migrations/<fingerprint>.json` in the state folder. */
export function getMigrationWatchRecordPath(stateFolder: string, source: WatchedSourceAddress): string {
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
export function readMigrationWatchRecord(path: string): MigrationWatchRecord | undefined {
  const json = tryParseJson(readTextIfReadable(path) ?? '');
  return json.ok && isJsonRecord(json.value) ? decodeRecord(json.value) : undefined;
}

export function writeMigrationWatchRecord(path: string, record: MigrationWatchRecord): void {
  ensureFolder(dirname(path));
  const { started, firstSeen, ...rest } = record;
  const dates = {
    ...(started === undefined ? {} : { started: { ...started, at: formatDate(started.at) } }),
    ...(firstSeen === undefined ? {} : { first_seen: formatDate(firstSeen) }),
  };
  writeFileAtomically(path, `${JSON.stringify({ version: 1, ...rest, ...dates }, null, 2)}\n`);
}

/** The slot or replica with the identity under which it is recorded. */
export function toRecordedSlot(
  { name, database }: Pick<RecordedMigrationSlot, 'name' | 'database'>,
  identity: Identity | undefined,
  system?: string,
): RecordedMigrationSlot {
  return {
    ...{ name, database },
    ...(identity === undefined ? {} : { grade: identity.grade, by: identity.by }),
    ...(system === undefined ? {} : { system }),
  };
}

/** The recorded start of the migration, else the time at which it was first observed. */
export function getKnownMigrationStart(
  record: { readonly started?: RecordedMigrationStart | undefined; readonly firstSeen?: number | undefined },
  now: number,
): KnownMigrationStart | undefined {
  // A recorded start that is older than twice the time limit belongs to an earlier migration.
  if (record.started !== undefined && now - record.started.at < 2 * migrationTimeLimit) {
    return { startedAt: record.started.at, from: 'migrate' };
  }
  return record.firstSeen === undefined ? undefined : { startedAt: record.firstSeen, from: 'first_sighting' };
}

function decodeRecord(json: JsonRecord): MigrationWatchRecord | undefined {
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
  };
}

function decodeStarted(json: JsonRecord): RecordedMigrationStart | undefined {
  const [at, cluster, id] = [decodeDate(json, 'at'), readStringField(json, 'cluster'), readStringField(json, 'id')];
  if (at === undefined || cluster === undefined || id === undefined || !isJsonRecord(json.identity)) return undefined;
  return { at, cluster, id, identity: decodeAccountAndServerOrigins(json.identity) };
}

export function decodeAccountAndServerOrigins(json: JsonRecord): AccountAndServerOrigins {
  const keys = ['authOrigin', 'baseOrigin', 'clientId', 'accountUuid', 'team'] as const;
  return Object.fromEntries(
    keys.flatMap((key) => (readStringField(json, key) === undefined ? [] : [[key, json[key]]])),
  );
}

function decodeSlot(json: unknown): readonly RecordedMigrationSlot[] {
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
