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
import type { HeldFileLock } from '../../platform/file-lock.ts';
import {
  ensureFolder,
  listFolder,
  readTextIfReadable,
  removeFileDurably,
  writeFileAtomically,
} from '../../platform/files.ts';
import { watchedSourceBaselinePath, writeWatchedSourceBaselineFile } from './baseline-file.ts';
import { changeMigrationWatchRecord } from './change-migration-watch-record.ts';
import {
  decodeWatchedSourceBaseline,
  encodeWatchedSourceBaseline,
  type WatchedSourceBaseline,
} from './postgresql/watched-source-baseline.ts';
import { waitForFileLock } from './wait-for-file-lock.ts';
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
  readonly identity: AccountAndServerOrigins;
  /**
   * Slots or replicas of other consumers, which existed before the migration. This field, `warned` and `sourceOptions` are
   * kept for the watch record.
   */
  readonly before?: readonly string[];
  readonly warned?: readonly string[];
  readonly sourceOptions: readonly string[];
  /**
   * The source as it was before the request, kept for the baseline file, which still belongs to an earlier migration into
   * the cluster if the service refuses this one. null: the source could not be read; absent for Redis.
   */
  readonly baseline?: WatchedSourceBaseline | null;
}

/** Stores the record of a migration request before the request is sent. Throws errors of the file system unchanged. */
export function writeUnconfirmedMigrationRequest(stateFolder: string, start: UnconfirmedMigrationRequest): void {
  const path = sentStartPath(stateFolder, start.baseOrigin, start.cluster);
  ensureFolder(dirname(path));
  const { at, baseline, ...rest } = start;
  const encoded = {
    version: 1,
    at: new Date(at).toISOString(),
    ...rest,
    ...(baseline === undefined ? {} : { baseline: baseline && encodeWatchedSourceBaseline(baseline) }),
  };
  writeFileAtomically(path, `${JSON.stringify(encoded)}\n`);
}

/**
 * Acquires the lock that a process holds while it sends a request to migrate into this cluster, or removes its record;
 * undefined when another process still has the lock after `limit` milliseconds. Throws a CliError when the state folder
 * cannot be locked.
 */
export function lockUnconfirmedMigrationRequest(
  stateFolder: string,
  { baseOrigin, cluster }: Pick<UnconfirmedMigrationRequest, 'baseOrigin' | 'cluster'>,
  limit?: number,
): HeldFileLock | undefined {
  return waitForFileLock(`${sentStartPath(stateFolder, baseOrigin, cluster)}.lock`, limit);
}

/**
 * The migration request for this cluster whose sender was interrupted; undefined if there is none, also while its sender
 * still runs.
 */
export function readInterruptedMigrationRequest(
  stateFolder: string,
  baseOrigin: string,
  cluster: string,
): UnconfirmedMigrationRequest | undefined {
  const start = readUnconfirmedMigrationRequest(stateFolder, baseOrigin, cluster);
  if (start === undefined || isBeingSent(stateFolder, start)) return undefined;
  // The sender may have received the response after the first read.
  return readUnconfirmedMigrationRequest(stateFolder, baseOrigin, cluster);
}

/** The migration request for this cluster whose result is not known; undefined if there is none. */
export function readUnconfirmedMigrationRequest(
  stateFolder: string,
  baseOrigin: string,
  cluster: string,
): UnconfirmedMigrationRequest | undefined {
  return decodeSentStart(sentStartPath(stateFolder, baseOrigin, cluster));
}

/** The interrupted requests to migrate this source, sent to any API, whose results are not known. */
export function findUnconfirmedMigrationRequests(
  stateFolder: string,
  source: WatchedSourceAddress,
): readonly UnconfirmedMigrationRequest[] {
  const folder = join(stateFolder, migrationsFolder);
  return listFolder(folder)
    .filter((name) => name.startsWith(filePrefix) && name.endsWith('.json'))
    .flatMap((name) => decodeSentStart(join(folder, name)) ?? [])
    .filter((start) => isSameWatchedSource(start.source, source) && !isBeingSent(stateFolder, start));
}

/**
 * Removes a request whose result is known, but not one that was sent later. For a started migration, writes the baseline
 * and the watch record of `db watch` first; otherwise these files stay as an earlier migration left them. The caller holds
 * the lock of the request.
 * @param started the started migration; undefined if the request started none
 */
export function settleUnconfirmedMigrationRequest(
  stateFolder: string,
  start: UnconfirmedMigrationRequest,
  started: Pick<RecordedMigrationStart, 'at' | 'id'> | undefined,
): void {
  const { at, baseOrigin, cluster, source, baseline } = start;
  try {
    if (started !== undefined && baseline !== undefined)
      writeWatchedSourceBaselineFile(watchedSourceBaselinePath(stateFolder, source, cluster), baseline ?? undefined);
  } finally {
    // A baseline that cannot be written must not prevent the record of the start.
    if (started !== undefined) writeStartToWatchRecord(stateFolder, start, started);
    if (readUnconfirmedMigrationRequest(stateFolder, baseOrigin, cluster)?.at === at)
      removeFileDurably(sentStartPath(stateFolder, baseOrigin, cluster));
  }
}

function writeStartToWatchRecord(
  stateFolder: string,
  { cluster, source, identity, before, warned, sourceOptions }: UnconfirmedMigrationRequest,
  started: Pick<RecordedMigrationStart, 'at' | 'id'>,
): void {
  const path = getMigrationWatchRecordPath(stateFolder, source);
  const record: MigrationWatchRecord = {
    engine: source.engine,
    source: formatSourceName(source),
    started: { ...started, cluster, identity },
    sourceOptions,
    ...(before === undefined ? {} : { before }),
    ...(warned === undefined ? {} : { warned }),
  };
  // A process that is suspended while it holds the lock must not prevent the record of the start.
  if (!changeMigrationWatchRecord(path, () => record)) writeMigrationWatchRecord(path, record);
}

export function isSameWatchedSource(one: WatchedSourceAddress, other: WatchedSourceAddress): boolean {
  return one.engine === other.engine && formatSourceName(one) === formatSourceName(other);
}

const migrationsFolder = 'migrations';
const filePrefix = 'sent-';

/** Whether the process that wrote the record of this request still waits for the response. */
function isBeingSent(stateFolder: string, start: UnconfirmedMigrationRequest): boolean {
  try {
    // A process that removes the record holds the lock for some milliseconds only.
    const lock = lockUnconfirmedMigrationRequest(stateFolder, start, 200);
    lock?.release();
    return lock === undefined;
  } catch {
    // In a state folder that cannot be locked, no process sends a request.
    return false;
  }
}

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
  if (!isJsonRecord(value.identity)) return undefined;
  return {
    at,
    cluster,
    baseOrigin,
    source,
    identity: decodeAccountAndServerOrigins(value.identity),
    sourceOptions: readStringList(value.sourceOptions),
    ...(Array.isArray(value.before) ? { before: readStringList(value.before) } : {}),
    ...(Array.isArray(value.warned) ? { warned: readStringList(value.warned) } : {}),
    ...('baseline' in value ? { baseline: decodeBaseline(value.baseline) } : {}),
  };
}

function decodeBaseline(json: unknown): WatchedSourceBaseline | null {
  return (isJsonRecord(json) ? decodeWatchedSourceBaseline(json) : undefined) ?? null;
}

function decodeSource(json: JsonRecord): WatchedSourceAddress | undefined {
  const [engine, host] = [readStringField(json, 'engine'), readStringField(json, 'host')];
  const [port, dbname] = [readNumberField(json, 'port'), readStringField(json, 'dbname')];
  if ((engine !== 'postgresql' && engine !== 'redis') || host === undefined || port === undefined) return undefined;
  return { engine, host, port, ...(dbname === undefined ? {} : { dbname }) };
}
