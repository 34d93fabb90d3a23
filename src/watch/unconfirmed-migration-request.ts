import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { AccountAndServerOrigins } from '../identity.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../json.ts';
import {
  ensureFolder,
  listFolder,
  readTextIfReadable,
  removeFileDurably,
  writeFileAtomically,
} from '../platform/files.ts';
import {
  decodeAccountAndServerOrigins,
  formatSourceName,
  getMigrationWatchRecordPath,
  type MigrationWatchRecord,
  type RecordedMigrationStart,
  type WatchedSourceAddress,
  writeMigrationWatchRecord,
} from './watch-record.ts';

/**
 * A request that may have started a migration. The request is stored before it is sent, and removed when its result is
 * known, so that a command that was killed in between does not lead to a second start. The stored request contains no
 * secret.
 */
export interface UnconfirmedMigrationRequest {
  /** Time before the request was sent, in milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the target cluster. */
  readonly cluster: string;
  /** Origin of the resource API. */
  readonly baseOrigin: string;
  readonly source: WatchedSourceAddress;
  readonly identity?: AccountAndServerOrigins;
  /**
   * Slots or replicas of other consumers, which existed before the migration. This field, `warned` and `sourceOptions` are
   * kept for the watch record.
   */
  readonly before?: readonly string[];
  readonly warned?: readonly string[];
  readonly sourceOptions?: readonly string[];
}

/** Stores the record of a migration request before the request is sent. Throws errors of the file system unchanged. */
export function writeUnconfirmedMigrationRequest(stateFolder: string, start: UnconfirmedMigrationRequest): void {
  const path = sentStartPath(stateFolder, start.baseOrigin, start.cluster);
  ensureFolder(dirname(path));
  const { at, ...rest } = start;
  writeFileAtomically(path, `${JSON.stringify({ version: 1, at: new Date(at).toISOString(), ...rest }, null, 2)}\n`);
}

/** The migration request for this cluster whose result is not known; undefined if there is none. */
export function readUnconfirmedMigrationRequest(
  stateFolder: string,
  baseOrigin: string,
  cluster: string,
): UnconfirmedMigrationRequest | undefined {
  return decodeSentStart(sentStartPath(stateFolder, baseOrigin, cluster));
}

/** The requests to migrate this source, sent to any API, whose results are not known. */
export function findUnconfirmedMigrationRequests(
  stateFolder: string,
  source: WatchedSourceAddress,
): readonly UnconfirmedMigrationRequest[] {
  const folder = join(stateFolder, migrationsFolder);
  return listFolder(folder)
    .filter((name) => name.startsWith(filePrefix) && name.endsWith('.json'))
    .flatMap((name) => decodeSentStart(join(folder, name)) ?? [])
    .filter((start) => isSameWatchedSource(start.source, source));
}

/**
 * Removes a request whose result is known, and records the started migration for `db watch`.
 * @param started the started migration; undefined if the request started none
 */
export function settleUnconfirmedMigrationRequest(
  stateFolder: string,
  { baseOrigin, cluster, source, identity, before, warned, sourceOptions }: UnconfirmedMigrationRequest,
  started: Pick<RecordedMigrationStart, 'at' | 'id'> | undefined,
): void {
  if (started !== undefined) {
    const record: MigrationWatchRecord = {
      engine: source.engine,
      source: formatSourceName(source),
      started: { ...started, cluster, ...(identity === undefined ? {} : { identity }) },
      ...(before === undefined ? {} : { before }),
      ...(warned === undefined ? {} : { warned }),
      ...(sourceOptions === undefined ? {} : { sourceOptions }),
    };
    writeMigrationWatchRecord(getMigrationWatchRecordPath(stateFolder, source), record);
  }
  removeFileDurably(sentStartPath(stateFolder, baseOrigin, cluster));
}

export function isSameWatchedSource(one: WatchedSourceAddress, other: WatchedSourceAddress): boolean {
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
function decodeSentStart(path: string): UnconfirmedMigrationRequest | undefined {
  const json = tryParseJson(readTextIfReadable(path) ?? '');
  if (!json.ok || !isJsonRecord(json.value) || readNumberField(json.value, 'version') !== 1) return undefined;
  const { value } = json;
  const at = Date.parse(readStringField(value, 'at') ?? '');
  const [cluster, baseOrigin] = [readStringField(value, 'cluster'), readStringField(value, 'baseOrigin')];
  const source = isJsonRecord(value.source) ? decodeSource(value.source) : undefined;
  if (Number.isNaN(at) || cluster === undefined || baseOrigin === undefined || source === undefined) return undefined;
  return {
    at,
    cluster,
    baseOrigin,
    source,
    ...(isJsonRecord(value.identity) ? { identity: decodeAccountAndServerOrigins(value.identity) } : {}),
    ...(Array.isArray(value.before) ? { before: readStringList(value.before) } : {}),
    ...(Array.isArray(value.warned) ? { warned: readStringList(value.warned) } : {}),
    ...(Array.isArray(value.sourceOptions) ? { sourceOptions: readStringList(value.sourceOptions) } : {}),
  };
}

function decodeSource(json: JsonRecord): WatchedSourceAddress | undefined {
  const [engine, host] = [readStringField(json, 'engine'), readStringField(json, 'host')];
  const [port, dbname] = [readNumberField(json, 'port'), readStringField(json, 'dbname')];
  if ((engine !== 'postgresql' && engine !== 'redis') || host === undefined || port === undefined) return undefined;
  return { engine, host, port, ...(dbname === undefined ? {} : { dbname }) };
}
