import type { Api } from '../api/client.ts';
import {
  describeMigration,
  fetchOnlineMigration,
  isCreatedWithin,
  isEndedMigrationStatus,
  type OnlineMigration,
} from '../api/online-migration.ts';
import { CliError } from '../errors.ts';
import { compareIdentities, describeIdentity, type Identity } from '../identity.ts';
import { readSentMigrationStart, type SentMigrationStart, settleSentMigrationStart } from './sent-start.ts';
import { migrationStartTime } from './start-recorded-migration.ts';

/** The result of a migration request whose sender was interrupted. */
export interface ResolvedMigrationStart {
  readonly start: SentMigrationStart;
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
export async function resolveSentMigrationStart(
  { api, stateFolder, now, identity }: ResolveMigrationStartDeps,
  cluster: string,
): Promise<ResolvedMigrationStart | undefined> {
  const start = readSentMigrationStart(stateFolder, api.baseOrigin, cluster);
  if (start === undefined) return undefined;
  if (start.identity !== undefined && compareIdentities(start.identity, identity) === 'different') {
    throw new CliError(
      'usage',
      'an interrupted run of another account may have started a migration into this cluster',
      {
        detail: `it ran as ${describeIdentity(start.identity)}, at ${new Date(start.at).toISOString()}`,
        hint: `as that account, run \`cloudctl db status ${cluster}\``,
      },
    );
  }
  const shown = await fetchOnlineMigration(api, cluster);
  const isOlder = shown === undefined || isCreatedWithin(shown, Math.max(0, now - start.at)) === false;
  const migration = isOlder ? undefined : shown;
  settleSentMigrationStart(
    stateFolder,
    start,
    migration === undefined
      ? undefined
      : { id: migration.id ?? '', at: migrationStartTime(migration.createdAt, start.at) },
  );
  const note =
    migration === undefined
      ? 'An earlier run was interrupted after it may have sent the migration. The service shows none that it started.'
      : `An earlier run was interrupted after it may have sent the migration. The service shows ${describeMigration(migration)}.`;
  return { start, migration, hasEnded: isEndedMigrationStatus(migration?.status), note };
}

export interface ResolveMigrationStartDeps {
  readonly api: Api;
  readonly stateFolder: string;
  readonly now: number;
  /** Who asks now. */
  readonly identity: Identity;
}
