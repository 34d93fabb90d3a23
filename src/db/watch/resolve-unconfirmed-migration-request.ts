import type { ApiClient } from '../../api/client.ts';
import {
  describeOnlineMigration,
  fetchOnlineMigration,
  isMigrationActive,
  isMigrationCreatedWithin,
  type OnlineMigration,
} from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import {
  type AccountAndServerOrigins,
  compareAccountsAndServerOrigins,
  describeAccountAndServerOrigins,
} from '../../base/identity.ts';
import { pickPlausibleMigrationStartTime } from './start-and-record-migration.ts';
import {
  lockUnconfirmedMigrationRequest,
  readInterruptedMigrationRequest,
  readUnconfirmedMigrationRequest,
  settleUnconfirmedMigrationRequest,
  type UnconfirmedMigrationRequest,
} from './unconfirmed-migration-request.ts';

/** The result of a migration request whose sender was interrupted. */
export interface UnconfirmedMigrationRequestOutcome {
  readonly start: UnconfirmedMigrationRequest;
  /** The migration that the request started; undefined if it started none. */
  readonly migration: OnlineMigration | undefined;
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
export async function resolveUnconfirmedMigrationRequest(
  { api, stateFolder, now, identity }: ResolveUnconfirmedMigrationRequestDeps,
  cluster: string,
): Promise<UnconfirmedMigrationRequestOutcome | undefined> {
  const start = readInterruptedMigrationRequest(stateFolder, api.baseOrigin, cluster);
  if (start === undefined) return undefined;
  if (compareAccountsAndServerOrigins(start.identity, identity) === 'different') {
    throw new CliError(
      'usage',
      'an interrupted run of another account may have started a migration into this cluster',
      {
        detail: `it ran as ${describeAccountAndServerOrigins(start.identity)}, at ${new Date(start.at).toISOString()}`,
        hint: `with a session of that account, run \`cloudctl db status ${cluster}\``,
      },
    );
  }
  const shown = await fetchOnlineMigration(api, cluster);
  const isOlder = shown === undefined || isMigrationCreatedWithin(shown, Math.max(0, now - start.at)) === false;
  const migration = isOlder ? undefined : shown;
  settleIfPresent(
    stateFolder,
    start,
    migration === undefined
      ? undefined
      : { id: migration.id ?? '', at: pickPlausibleMigrationStartTime(migration.createdAt, start.at) },
  );
  const note =
    migration === undefined
      ? 'An earlier run was interrupted after it may have sent the migration. The service shows no migration that the earlier run started.'
      : `An earlier run was interrupted after it may have sent the migration. The service shows ${describeOnlineMigration(migration)}.`;
  return { start, migration, hasEnded: migration !== undefined && !isMigrationActive(migration), note };
}

/** Since the record was read, another process may have settled it, or stored another request for the cluster. */
function settleIfPresent(
  stateFolder: string,
  start: UnconfirmedMigrationRequest,
  started: Parameters<typeof settleUnconfirmedMigrationRequest>[2],
): void {
  const lock = lockUnconfirmedMigrationRequest(stateFolder, start);
  if (lock === undefined) return;
  try {
    const present = readUnconfirmedMigrationRequest(stateFolder, start.baseOrigin, start.cluster);
    if (present?.at === start.at) settleUnconfirmedMigrationRequest(stateFolder, start, started);
  } finally {
    lock.release();
  }
}

export interface ResolveUnconfirmedMigrationRequestDeps {
  readonly api: ApiClient;
  readonly stateFolder: string;
  readonly now: number;
  /** Who asks now. */
  readonly identity: AccountAndServerOrigins;
}
