import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isRecord, type JsonRecord, numberOf, parseJson, textOf } from '../json.ts';
import { ensureFolder, readTextIfPossible, writeAtomically } from '../platform/files.ts';
import { type Clocked, longest } from './deadline.ts';

/** What is remembered of a migration between two commands. It holds no secret. */
export interface MigrationRecord {
  readonly engine: 'postgresql' | 'redis';
  /** `HOST:PORT/DBNAME`, of Redis `HOST:PORT`. */
  readonly source: string;
  /** Written by `db migrate` when the service had accepted; absent in what `db watch` saw first. */
  readonly started?: Started;
  /** Milliseconds since the epoch: when a slot or a replica of it was first seen. */
  readonly firstSeen?: number;
  /** Slots, or replicas, that were there before: they are somebody else's. */
  readonly before?: readonly string[];
  /** Those of the migration, as far as they were seen. */
  readonly slots?: readonly RecordedSlot[];
  /** Findings of the preflight that were not good, by id; they rank what may be wrong later. */
  readonly warned?: readonly string[];
}

export interface RecordedSlot {
  readonly name: string;
  /** Of a Redis replica empty. */
  readonly database: string;
}

export interface Started {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the cluster that is filled. */
  readonly cluster: string;
  /** The service's name for the migration. */
  readonly id: string;
}

export interface SourceName {
  readonly engine: 'postgresql' | 'redis';
  readonly host: string;
  readonly port: number;
  /** undefined: Redis, which is migrated whole. */
  readonly dbname?: string | undefined;
}

export function sourceName({ host, port, dbname }: SourceName): string {
  const place = host.includes(':') ? `[${host}]` : host.toLowerCase();
  return `${place}:${port}${dbname === undefined ? '' : `/${dbname}`}`;
}

/** `migrations/<fingerprint>.json` in the state folder. */
export function recordPath(stateFolder: string, source: SourceName): string {
  const fingerprint = createHash('sha256')
    .update(`${source.engine} ${sourceName(source)}`)
    .digest('hex')
    .slice(0, 32);
  return join(stateFolder, 'migrations', `${fingerprint}.json`);
}

/** undefined: there is none, or it is damaged or not to be read; what it would tell is then found out again. */
export function readRecord(path: string): MigrationRecord | undefined {
  const json = parseJson(readTextIfPossible(path) ?? '');
  return json.ok && isRecord(json.value) ? decode(json.value) : undefined;
}

export function writeRecord(path: string, record: MigrationRecord): void {
  ensureFolder(dirname(path));
  const { started, firstSeen, ...rest } = record;
  const dates = {
    ...(started === undefined ? {} : { started: { ...started, at: iso(started.at) } }),
    ...(firstSeen === undefined ? {} : { first_seen: iso(firstSeen) }),
  };
  writeAtomically(path, `${JSON.stringify({ version: 1, ...rest, ...dates }, null, 2)}\n`);
}

/** From when the two weeks run. */
export function clockedBy(
  record: { readonly started?: Started | undefined; readonly firstSeen?: number | undefined },
  now: number,
): Clocked | undefined {
  // A start so long ago was another migration: what is seen now was begun by somebody else.
  if (record.started !== undefined && now - record.started.at < 2 * longest) {
    return { begun: record.started.at, from: 'migrate' };
  }
  return record.firstSeen === undefined ? undefined : { begun: record.firstSeen, from: 'first_sighting' };
}

function decode(json: JsonRecord): MigrationRecord | undefined {
  const engine = textOf(json, 'engine');
  const source = textOf(json, 'source');
  if (numberOf(json, 'version') !== 1 || source === undefined) return undefined;
  if (engine !== 'postgresql' && engine !== 'redis') return undefined;
  const started = isRecord(json.started) ? decodeStarted(json.started) : undefined;
  const firstSeen = dateOf(json, 'first_seen');
  return {
    engine,
    source,
    ...(started === undefined ? {} : { started }),
    ...(firstSeen === undefined ? {} : { firstSeen }),
    ...listOf(json, 'before'),
    ...(Array.isArray(json.slots) ? { slots: json.slots.flatMap(decodeSlot) } : {}),
    ...listOf(json, 'warned'),
  };
}

function decodeStarted(json: JsonRecord): Started | undefined {
  const [at, cluster, id] = [dateOf(json, 'at'), textOf(json, 'cluster'), textOf(json, 'id')];
  return at === undefined || cluster === undefined || id === undefined ? undefined : { at, cluster, id };
}

function decodeSlot(json: unknown): readonly RecordedSlot[] {
  if (!isRecord(json)) return [];
  const [name, database] = [textOf(json, 'name'), textOf(json, 'database')];
  return name === undefined || database === undefined ? [] : [{ name, database }];
}

function listOf<K extends 'before' | 'warned'>(json: JsonRecord, key: K) {
  const value = json[key];
  if (!Array.isArray(value)) return {};
  return { [key]: value.filter((one): one is string => typeof one === 'string') };
}

function dateOf(json: JsonRecord, key: string): number | undefined {
  const at = Date.parse(textOf(json, key) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
