import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Actor } from '../../api/actor.ts';
import type { ApiClient } from '../../api/client.ts';
import {
  describeMigration,
  fetchMigration,
  isCreatedWithin,
  isMigrationActive,
  type Migration,
} from '../../api/online-migration.ts';
import {
  type MigrationRequest,
  requestMigration,
  type StartedMigration,
  StartUnknownError,
} from '../../api/start-online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { type ActorIdentity, compareIdentities, describeIdentity } from '../../base/identity.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../../base/json.ts';
import { storageError } from '../../base/storage-error.ts';
import type { OutputWriter } from '../../cli/output.ts';
import { ensureFolder, listFolder, removeDurably, tryReadText, writeAtomically } from '../../platform/files.ts';
import type { Clock, HostSystem } from '../../platform/host.ts';
import type { HeldLock } from '../../platform/locks.ts';
import { decodeSourceBaseline, encodeBaseline, type SourceBaseline } from './postgresql/baseline.ts';
import {
  changeRecord,
  decodeIdentity,
  decodeRunKeys,
  formatSourceName,
  pathOfBaseline,
  pathOfRecord,
  type RecordedStart,
  type SourceAddress,
  storeBaseline,
  type WatchRecord,
  waitForFileLock,
  writeRecord,
} from './record.ts';
import { migrationTimeLimit } from './sample.ts';

/** What of the command a start needs. */
interface Starter {
  readonly io: {
    readonly host: { readonly folders: Pick<HostSystem['folders'], 'state'>; readonly clock: Pick<Clock, 'now'> };
    readonly output: Pick<OutputWriter, 'warn'>;
  };
  readonly actor: Pick<Actor, 'api' | 'loginHints' | 'command'>;
}

/**
 * Starts a migration with `requestMigration`, and records it. The request is stored before it is sent, locked until
 * this run ends, and removed when its result is known. Throws `internal` if the request cannot be stored, and `busy` if
 * another process starts a migration into the cluster at the same time; no request was sent in these cases.
 */
export async function startMigration(
  starter: Starter,
  sent: Omit<UnconfirmedRequest, 'at'>,
  request: MigrationRequest,
): Promise<StartedMigration> {
  const { io, actor } = starter;
  const { now } = io.host.clock;
  const start: UnconfirmedRequest = { ...sent, at: now() };
  const lock = lockAndStore(starter, start);
  try {
    const started = await requestMigration(
      await actor.api(),
      sent.cluster,
      request,
      actor.loginHints(),
      (words) => `\`${actor.command(words)}\``,
    );
    await settle(starter, start, { id: started.id, at: plausibleStart(started.createdAt, now()) });
    return started;
  } catch (error) {
    if (error instanceof CliError && !(error instanceof StartUnknownError)) await settle(starter, start, undefined);
    throw error;
  } finally {
    lock.release();
  }
}

/**
 * The start time that the service reports, in milliseconds since the epoch, if it is plausible for a migration that starts
 * now; else the present time.
 */
export function plausibleStart(createdAt: string | undefined, now: number): number {
  const told = Date.parse(createdAt ?? '');
  return Math.abs(told - now) < migrationTimeLimit ? told : now;
}

/** Stores the request; the returned lock tells other processes that its sender still runs. */
function lockAndStore({ io, actor }: Starter, start: UnconfirmedRequest): HeldLock {
  const stateFolder = io.host.folders.state;
  let lock: HeldLock | undefined;
  try {
    lock = lockRequest(stateFolder, start);
    // A request that is present now was stored after this run has looked for interrupted requests.
    if (lock !== undefined && readRequest(stateFolder, start.baseOrigin, start.cluster) === undefined) {
      writeRequest(stateFolder, start);
      return lock;
    }
  } catch (error) {
    lock?.release();
    throw storageError(`could not record the migration before it is sent: ${reasonOf(error)}`, error, {
      detail: 'nothing was sent, because without a record an interrupted run could start a second migration',
      elsewhere: 'set CLOUDCTL_STATE_DIR to a folder that you can write to',
    });
  }
  lock?.release();
  throw new CliError('busy', 'could not start the migration: another process has sent one into this cluster', {
    detail: 'this run has sent nothing',
    hint: `show the migration of the other process with \`${actor.command('db status', start.cluster)}\``,
  });
}

async function settle(
  { io }: Starter,
  start: UnconfirmedRequest,
  started: Parameters<typeof settleRequest>[2],
): Promise<void> {
  try {
    settleRequest(io.host.folders.state, start, started);
  } catch (error) {
    await io.output.warn(`could not save the start of the migration for \`db watch\`: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * A request that may have started a migration. The request is stored before it is sent, and removed when its result is
 * known, so that a command that was killed in between does not lead to a second start. The stored request contains no
 * secret.
 */
export interface UnconfirmedRequest {
  /** Time before the request was sent, in milliseconds since the epoch. */
  readonly at: number;
  /** UUID of the target cluster. */
  readonly cluster: string;
  /** Origin of the resource API. */
  readonly baseOrigin: string;
  readonly source: SourceAddress;
  readonly identity: ActorIdentity;
  /**
   * Slots or replicas of other consumers, which existed before the migration. This field, `warned` and `sourceOptions` are
   * kept for the watch record.
   */
  readonly before?: readonly string[];
  readonly warned?: readonly string[];
  readonly sourceOptions: readonly string[];
  /** Kept for the watch record, too. */
  readonly runKeys?: WatchRecord['runKeys'];
  /**
   * The source as it was before the request, kept for the baseline file, which still belongs to an earlier migration into
   * the cluster if the service refuses this one. null: the source could not be read; absent for Redis.
   */
  readonly baseline?: SourceBaseline | null;
}

/** Stores the record of a migration request before the request is sent. Throws errors of the file system unchanged. */
export function writeRequest(stateFolder: string, start: UnconfirmedRequest): void {
  const path = sentStartPath(stateFolder, start.baseOrigin, start.cluster);
  ensureFolder(dirname(path));
  const { at, baseline, ...rest } = start;
  const encoded = {
    version: 1,
    at: new Date(at).toISOString(),
    ...rest,
    ...(baseline === undefined ? {} : { baseline: baseline && encodeBaseline(baseline) }),
  };
  writeAtomically(path, `${JSON.stringify(encoded)}\n`);
}

/**
 * Acquires the lock that a process holds while it sends a request to migrate into this cluster, or removes its record;
 * undefined when another process still has the lock after `limit` milliseconds. Throws a CliError when the state folder
 * cannot be locked.
 */
export function lockRequest(
  stateFolder: string,
  { baseOrigin, cluster }: Pick<UnconfirmedRequest, 'baseOrigin' | 'cluster'>,
  limit?: number,
): HeldLock | undefined {
  return waitForFileLock(`${sentStartPath(stateFolder, baseOrigin, cluster)}.lock`, limit);
}

/**
 * The migration request for this cluster whose sender was interrupted; undefined if there is none, also while its sender
 * still runs.
 */
export function readInterrupted(
  stateFolder: string,
  baseOrigin: string,
  cluster: string,
): UnconfirmedRequest | undefined {
  const start = readRequest(stateFolder, baseOrigin, cluster);
  if (start === undefined || isBeingSent(stateFolder, start)) return undefined;
  // The sender may have received the response after the first read.
  return readRequest(stateFolder, baseOrigin, cluster);
}

/** The migration request for this cluster whose result is not known; undefined if there is none. */
export function readRequest(stateFolder: string, baseOrigin: string, cluster: string): UnconfirmedRequest | undefined {
  return decodeSentStart(sentStartPath(stateFolder, baseOrigin, cluster));
}

/** The interrupted requests to migrate this source, sent to any API, whose results are not known. */
export function findRequests(stateFolder: string, source: SourceAddress): readonly UnconfirmedRequest[] {
  const folder = join(stateFolder, migrationsFolder);
  return listFolder(folder)
    .filter((name) => name.startsWith(filePrefix) && name.endsWith('.json'))
    .flatMap((name) => decodeSentStart(join(folder, name)) ?? [])
    .filter((start) => isSameSource(start.source, source) && !isBeingSent(stateFolder, start));
}

/**
 * Removes a request whose result is known, but not one that was sent later. For a started migration, writes the baseline
 * and the watch record of `db watch` first; otherwise these files stay as an earlier migration left them. The caller holds
 * the lock of the request.
 * @param started the started migration; undefined if the request started none
 */
export function settleRequest(
  stateFolder: string,
  start: UnconfirmedRequest,
  started: Pick<RecordedStart, 'at' | 'id'> | undefined,
): void {
  const { at, baseOrigin, cluster, source, baseline } = start;
  try {
    if (started !== undefined && baseline !== undefined)
      storeBaseline(pathOfBaseline(stateFolder, source, cluster), baseline ?? undefined);
  } finally {
    // A baseline that cannot be written must not prevent the record of the start.
    if (started !== undefined) writeStartToWatchRecord(stateFolder, start, started);
    if (readRequest(stateFolder, baseOrigin, cluster)?.at === at)
      removeDurably(sentStartPath(stateFolder, baseOrigin, cluster));
  }
}

function writeStartToWatchRecord(
  stateFolder: string,
  { cluster, source, identity, before, warned, sourceOptions, runKeys }: UnconfirmedRequest,
  started: Pick<RecordedStart, 'at' | 'id'>,
): void {
  const path = pathOfRecord(stateFolder, source);
  const record: WatchRecord = {
    engine: source.engine,
    source: formatSourceName(source),
    started: { ...started, cluster, identity },
    sourceOptions,
    ...(before === undefined ? {} : { before }),
    ...(warned === undefined ? {} : { warned }),
    ...(runKeys === undefined ? {} : { runKeys }),
  };
  // A process that is suspended while it holds the lock must not prevent the record of the start.
  if (!changeRecord(path, () => record)) writeRecord(path, record);
}

export function isSameSource(one: SourceAddress, other: SourceAddress): boolean {
  return one.engine === other.engine && formatSourceName(one) === formatSourceName(other);
}

const migrationsFolder = 'migrations';
const filePrefix = 'sent-';

/** Whether the process that wrote the record of this request still waits for the response. */
function isBeingSent(stateFolder: string, start: UnconfirmedRequest): boolean {
  try {
    // A process that removes the record holds the lock for some milliseconds only.
    const lock = lockRequest(stateFolder, start, 200);
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
function decodeSentStart(path: string): UnconfirmedRequest | undefined {
  const json = tryParseJson(tryReadText(path) ?? '');
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
    identity: decodeIdentity(value.identity),
    sourceOptions: readStringList(value.sourceOptions),
    ...(Array.isArray(value.before) ? { before: readStringList(value.before) } : {}),
    ...(Array.isArray(value.warned) ? { warned: readStringList(value.warned) } : {}),
    ...('baseline' in value ? { baseline: decodeBaseline(value.baseline) } : {}),
    ...decodeRunKeys(value.runKeys),
  };
}

function decodeBaseline(json: unknown): SourceBaseline | null {
  return (isJsonRecord(json) ? decodeSourceBaseline(json) : undefined) ?? null;
}

function decodeSource(json: JsonRecord): SourceAddress | undefined {
  const [engine, host] = [readStringField(json, 'engine'), readStringField(json, 'host')];
  const [port, dbname] = [readNumberField(json, 'port'), readStringField(json, 'dbname')];
  if ((engine !== 'postgresql' && engine !== 'redis') || host === undefined || port === undefined) return undefined;
  return { engine, host, port, ...(dbname === undefined ? {} : { dbname }) };
}

/** The result of a migration request whose sender was interrupted. */
export interface RequestOutcome {
  readonly start: UnconfirmedRequest;
  /** The migration that the request started; undefined if it started none. */
  readonly migration: Migration | undefined;
  readonly hasEnded: boolean;
  /** For the user. */
  readonly note: string;
}

/**
 * Determines and records the result of a migration request whose sender was interrupted; undefined if there is no such
 * request for the cluster, also while its sender still waits for the response. A migration that the service reports was
 * started by the request, unless the migration is older. Throws a CliError if the service does not report the result, or
 * if another account sent the request.
 * @param now milliseconds since the epoch
 */
export async function resolveRequest(
  {
    api,
    stateFolder,
    now,
    identity,
  }: {
    readonly api: ApiClient;
    readonly stateFolder: string;
    readonly now: number;
    /** Who asks now. */
    readonly identity: ActorIdentity;
  },
  cluster: string,
): Promise<RequestOutcome | undefined> {
  const start = readInterrupted(stateFolder, api.baseOrigin, cluster);
  if (start === undefined) return undefined;
  if (compareIdentities(start.identity, identity) === 'different') {
    throw new CliError(
      'usage',
      'an interrupted run of another account may have started a migration into this cluster',
      {
        detail: `it ran as ${describeIdentity(start.identity)}, at ${new Date(start.at).toISOString()}`,
        hint: `with a session of that account, run \`cloudctl db status ${cluster}\``,
      },
    );
  }
  const shown = await fetchMigration(api, cluster);
  const isOlder = shown === undefined || isCreatedWithin(shown, Math.max(0, now - start.at)) === false;
  const migration = isOlder ? undefined : shown;
  settleIfPresent(
    stateFolder,
    start,
    migration === undefined ? undefined : { id: migration.id ?? '', at: plausibleStart(migration.createdAt, start.at) },
  );
  const note =
    migration === undefined
      ? 'An earlier run was interrupted after it may have sent the migration. The service shows no migration that the earlier run started.'
      : `An earlier run was interrupted after it may have sent the migration. The service shows ${describeMigration(migration)}.`;
  return { start, migration, hasEnded: migration !== undefined && !isMigrationActive(migration), note };
}

/** Since the record was read, another process may have settled it, or stored another request for the cluster. */
function settleIfPresent(
  stateFolder: string,
  start: UnconfirmedRequest,
  started: Parameters<typeof settleRequest>[2],
): void {
  const lock = lockRequest(stateFolder, start);
  if (lock === undefined) return;
  try {
    const present = readRequest(stateFolder, start.baseOrigin, start.cluster);
    if (present?.at === start.at) settleRequest(stateFolder, start, started);
  } finally {
    lock.release();
  }
}
