import type { ApiClient } from '../api/client.ts';
import {
  describeOnlineMigration,
  fetchOnlineMigration,
  isEndedMigrationStatus,
  isMigrationCreatedWithin,
  type OnlineMigration,
} from '../api/online-migration.ts';
import { CliError } from '../errors.ts';
import { type AccountIdentity, compareAccountIdentities, describeAccountIdentity } from '../identity.ts';
import {
  readSentMigrationRequest,
  type SentMigrationRequest,
  settleSentMigrationRequest,
} from './sent-migration-request.ts';
import { migrationStartTime } from './start-recorded-migration.ts';

/** The result of a migration request whose sender was interrupted. */
export interface ResolvedMigrationRequest {
  readonly start: SentMigrationRequest;
  /** The migration that the request started; undefined if it started none. */
  readonly migration: OnlineMigration | undefined;
  readonly hasEnded: boolean;
  /** For the user. */
  readonly note: string;
}

/**
 * Determines and records the result of a migration request whose sender was interrupted; undefined if there is no such
 * request for the cluster. A migration that the service reports was started by the request, unless the migration is
 * older. Throws a CliError if the service does not report the result, or if another account sent the request.
 * @param now milliseconds since the epoch
 */
export async function resolveSentMigrationRequest(
  { api, stateFolder, now, identity }: ResolveMigrationRequestDeps,
  cluster: string,
): Promise<ResolvedMigrationRequest | undefined> {
  const start = readSentMigrationRequest(stateFolder, api.baseOrigin, cluster);
  if (start === undefined) return undefined;
  if (start.identity !== undefined && compareAccountIdentities(start.identity, identity) === 'different') {
    throw new CliError(
      'usage',
      'an interrupted run of another account may have started a migration into this cluster',
      {
        detail: `it ran as ${describeAccountIdentity(start.identity)}, at ${new Date(start.at).toISOString()}`,
        hint: `as that account, run \`cloudctl db status ${cluster}\``,
      },
    );
  }
  const shown = await fetchOnlineMigration(api, cluster);
  const isOlder = shown === undefined || isMigrationCreatedWithin(shown, Math.max(0, now - start.at)) === false;
  const migration = isOlder ? undefined : shown;
  settleSentMigrationRequest(
    stateFolder,
    start,
    migration === undefined
      ? undefined
      : { id: migration.id ?? '', at: migrationStartTime(migration.createdAt, start.at) },
  );
  const note =
    migration === undefined
      ? 'An earlier run was interrupted after it may have sent the migration. The service shows none that it started.'
      : `An earlier run was interrupted after it may have sent the migration. The service shows ${describeOnlineMigration(migration)}.`;
  return { start, migration, hasEnded: isEndedMigrationStatus(migration?.status), note };
}

export interface ResolveMigrationRequestDeps {
  readonly api: ApiClient;
  readonly stateFolder: string;
  readonly now: number;
  /** Who asks now. */
  readonly identity: AccountIdentity;
}
