import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Identity } from '../identity.ts';
import { isRecord, type JsonRecord, numberField, parseJson, stringField, stringsOfList } from '../json.ts';
import { ensureFolder, listFolder, readTextIfReadable, removeDurably, writeAtomically } from '../platform/files.ts';
import {
  decodeIdentity,
  formatSourceName,
  type RecordedStart,
  type SourceIdentity,
  type WatchRecord,
  watchRecordPath,
  writeWatchRecord,
} from './watch-record.ts';

/**
 * A request that may have started a migration. The request is stored before it is sent, and removed when its result is
 * known, so that a command that was killed in between does not lead to a second start. The stored request contains no
 * secret.
 */
export interface SentMigrationStart {
  /** Time before the request was sent, in milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the target cluster. */
  readonly cluster: string;
  /** Origin of the resource API. */
  readonly baseOrigin: string;
  readonly source: SourceIdentity;
  readonly identity?: Identity;
  /** Stored for the watch record: `before` and `warned`. */
  readonly before?: readonly string[];
  readonly warned?: readonly string[];
}

/** Stores it. Throws errors of the file system unchanged. */
export function writeSentMigrationStart(stateFolder: string, start: SentMigrationStart): void {
  const path = sentStartPath(stateFolder, start.baseOrigin, start.cluster);
  ensureFolder(dirname(path));
  const { at, ...rest } = start;
  writeAtomically(path, `${JSON.stringify({ version: 1, at: new Date(at).toISOString(), ...rest }, null, 2)}\n`);
}

/** The migration request for this cluster whose result is not known; undefined if there is none. */
export function readSentMigrationStart(
  stateFolder: string,
  baseOrigin: string,
  cluster: string,
): SentMigrationStart | undefined {
  return decodeSentStart(sentStartPath(stateFolder, baseOrigin, cluster));
}

/** The requests to migrate this source, sent to any API, whose results are not known. */
export function findSentMigrationStarts(stateFolder: string, source: SourceIdentity): readonly SentMigrationStart[] {
  const folder = join(stateFolder, migrationsFolder);
  return listFolder(folder)
    .filter((name) => name.startsWith(filePrefix) && name.endsWith('.json'))
    .flatMap((name) => decodeSentStart(join(folder, name)) ?? [])
    .filter((start) => isSameSource(start.source, source));
}

/**
 * Removes a request whose result is known, and records the started migration for `db watch`.
 * @param started the started migration; undefined if the request started none
 */
export function settleSentMigrationStart(
  stateFolder: string,
  { baseOrigin, cluster, source, identity, before, warned }: SentMigrationStart,
  started: Pick<RecordedStart, 'at' | 'id'> | undefined,
): void {
  if (started !== undefined) {
    const record: WatchRecord = {
      engine: source.engine,
      source: formatSourceName(source),
      started: { ...started, cluster, ...(identity === undefined ? {} : { identity }) },
      ...(before === undefined ? {} : { before }),
      ...(warned === undefined ? {} : { warned }),
    };
    writeWatchRecord(watchRecordPath(stateFolder, source), record);
  }
  removeDurably(sentStartPath(stateFolder, baseOrigin, cluster));
}

export function isSameSource(one: SourceIdentity, other: SourceIdentity): boolean {
  return one.engine === other.engine && formatSourceName(one) === formatSourceName(other);
}

const migrationsFolder = 'migrations';
const filePrefix = 'sent-';

function sentStartPath(stateFolder: string, baseOrigin: string, cluster: string): string {
  const fingerprint = createHash('sha256').update(`${baseOrigin} ${cluster}`).digest('hex').slice(0, 32);
  return join(stateFolder, migrationsFolder, `${filePrefix}${fingerprint}.json`);
}

/**
 * A file of a request that is damaged or cannot be read counts as missing. The service itself refuses a second
 * migration into a cluster.
 */
function decodeSentStart(path: string): SentMigrationStart | undefined {
  const json = parseJson(readTextIfReadable(path) ?? '');
  if (!json.ok || !isRecord(json.value) || numberField(json.value, 'version') !== 1) return undefined;
  const { value } = json;
  const at = Date.parse(stringField(value, 'at') ?? '');
  const [cluster, baseOrigin] = [stringField(value, 'cluster'), stringField(value, 'baseOrigin')];
  const source = isRecord(value.source) ? decodeSource(value.source) : undefined;
  if (Number.isNaN(at) || cluster === undefined || baseOrigin === undefined || source === undefined) return undefined;
  return {
    at,
    cluster,
    baseOrigin,
    source,
    ...(isRecord(value.identity) ? { identity: decodeIdentity(value.identity) } : {}),
    ...(Array.isArray(value.before) ? { before: stringsOfList(value.before) } : {}),
    ...(Array.isArray(value.warned) ? { warned: stringsOfList(value.warned) } : {}),
  };
}

function decodeSource(json: JsonRecord): SourceIdentity | undefined {
  const [engine, host] = [stringField(json, 'engine'), stringField(json, 'host')];
  const [port, dbname] = [numberField(json, 'port'), stringField(json, 'dbname')];
  if ((engine !== 'postgresql' && engine !== 'redis') || host === undefined || port === undefined) return undefined;
  return { engine, host, port, ...(dbname === undefined ? {} : { dbname }) };
}
