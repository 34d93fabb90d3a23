import type { RefusedRequestHints } from '../../api/api-response.ts';
import type { ApiClient } from '../../api/client.ts';
import {
  MigrationStartUnknownError,
  type OnlineMigrationRequest,
  type StartedOnlineMigration,
  startOnlineMigration,
} from '../../api/start-online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { storageError } from '../../base/storage-error.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import { migrationTimeLimit } from './migration-deadline.ts';
import {
  lockUnconfirmedMigrationRequest,
  readUnconfirmedMigrationRequest,
  settleUnconfirmedMigrationRequest,
  type UnconfirmedMigrationRequest,
  writeUnconfirmedMigrationRequest,
} from './unconfirmed-migration-request.ts';

export interface StartAndRecordMigrationDeps {
  readonly api: ApiClient;
  readonly stateFolder: string;
  /** The present time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly loginHints: RefusedRequestHints;
  /** Formats a command for the profile, in backquotes. */
  readonly commandOf: (words: string) => string;
  /** Called if the state folder could not be written after the migration was started. */
  readonly onUnsaved: (reason: string) => Promise<void>;
}

/**
 * Starts a migration with `startOnlineMigration`, and records it. The request is stored before it is sent, locked until
 * this run ends, and removed when its result is known. Throws `internal` if the request cannot be stored, and `busy` if
 * another process starts a migration into the cluster at the same time; no request was sent in these cases.
 */
export async function startAndRecordMigration(
  deps: StartAndRecordMigrationDeps,
  sent: Omit<UnconfirmedMigrationRequest, 'at'>,
  request: OnlineMigrationRequest,
): Promise<StartedOnlineMigration> {
  const { api, now, loginHints, commandOf } = deps;
  const start: UnconfirmedMigrationRequest = { ...sent, at: now() };
  const lock = lockAndStore(deps, start);
  try {
    const started = await startOnlineMigration(api, sent.cluster, request, loginHints, commandOf);
    await settle(deps, start, { id: started.id, at: pickPlausibleMigrationStartTime(started.createdAt, now()) });
    return started;
  } catch (error) {
    if (error instanceof CliError && !(error instanceof MigrationStartUnknownError))
      await settle(deps, start, undefined);
    throw error;
  } finally {
    lock.release();
  }
}

/**
 * The start time that the service reports, in milliseconds since the epoch, if it is plausible for a migration that starts
 * now; else the present time.
 */
export function pickPlausibleMigrationStartTime(createdAt: string | undefined, now: number): number {
  const told = Date.parse(createdAt ?? '');
  return Math.abs(told - now) < migrationTimeLimit ? told : now;
}

/** Stores the request; the returned lock tells other processes that its sender still runs. */
function lockAndStore(
  { stateFolder, commandOf }: StartAndRecordMigrationDeps,
  start: UnconfirmedMigrationRequest,
): HeldFileLock {
  let lock: HeldFileLock | undefined;
  try {
    lock = lockUnconfirmedMigrationRequest(stateFolder, start);
    // A request that is present now was stored after this run has looked for interrupted requests.
    if (
      lock !== undefined &&
      readUnconfirmedMigrationRequest(stateFolder, start.baseOrigin, start.cluster) === undefined
    ) {
      writeUnconfirmedMigrationRequest(stateFolder, start);
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
    hint: `show the migration of the other process with ${commandOf(`db status ${start.cluster}`)}`,
  });
}

async function settle(
  { stateFolder, onUnsaved }: StartAndRecordMigrationDeps,
  start: UnconfirmedMigrationRequest,
  started: Parameters<typeof settleUnconfirmedMigrationRequest>[2],
): Promise<void> {
  try {
    settleUnconfirmedMigrationRequest(stateFolder, start, started);
  } catch (error) {
    await onUnsaved(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
