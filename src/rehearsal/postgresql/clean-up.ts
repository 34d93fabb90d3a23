import { cleanUpFromMigrationJournal } from '../../engine/clean-up-from-migration-journal.ts';
import type { MigrationEngineDependencies } from '../../engine/migration-engine-input.ts';
import { redactErrorReason } from '../../engine/migration-error.ts';
import type { MigrationCleanupEntry, MigrationJournal } from '../../engine/migration-journal.ts';
import { withEngineDatabaseSession } from '../../engine/postgresql/engine-session.ts';
import { migrationEngineApplicationName } from '../../engine/postgresql/replication-object-names.ts';
import { readPostgresqlServerIdentity } from '../../engine/postgresql/server-identity.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { formatSingleLinePsqlStatement } from '../../postgresql/psql-script.ts';
import { quoteIdentifier } from '../../postgresql/quote.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import type { RehearsalCreatedObject, RehearsalRecordFile } from '../rehearsal-record.ts';
import type { RehearsalLeftover } from '../rehearsal-report.ts';
import {
  dropRehearsalDatabases,
  dropRehearsalRoles,
  listRehearsalOwnerRoles,
  type RehearsalObjectDropResult,
} from './drop-objects.ts';
import { dropObjectsAddedToRehearsalTarget } from './existing-objects.ts';

export interface RehearsalEndpoints<S> {
  readonly source: S;
  readonly target: S;
}

/**
 * A journal of the engine that is stored in the record of the rehearsal. The record contains no passwords; the command
 * that removes the objects receives them again.
 */
export function createRehearsalJournal(
  file: RehearsalRecordFile,
  doors: RehearsalEndpoints<PostgresqlEndpoint> | RehearsalEndpoints<RedisEndpoint>,
): MigrationJournal {
  return {
    recordIntent(entry) {
      if (entry.engine === 'postgresql') {
        const { name, former, source, subscriptionOid } = entry;
        const added = {
          ...{ name, database: source.dbname },
          ...(former === undefined ? {} : { former }),
          ...(subscriptionOid === undefined ? {} : { subscriptionOid }),
        };
        // A journal entry replaces an earlier entry with the same name.
        file.change({ objects: [...file.current().objects.filter((one) => one.name !== name), added] });
      } else {
        // The former value of masterauth is a password, so it is not written to a file.
        const hidden = entry.settings.masterauth === undefined ? {} : { masterauth: '' };
        const filled = [{ name: 'keys', extensions: [], schemas: [], publications: [] }];
        file.change({
          objects: [{ name: entry.name, database: '' }],
          filled,
          settings: { ...entry.settings, ...hidden },
        });
      }
    },
    recordRemoved: (name) => file.change({ objects: file.current().objects.filter((one) => one.name !== name) }),
    pending: () => {
      const { objects, system, settings = {} } = file.current();
      return objects.map(({ name, database, former, subscriptionOid }): MigrationCleanupEntry => {
        const { source, target } = doors;
        return 'dbname' in source && 'dbname' in target
          ? {
              engine: 'postgresql',
              name,
              source: { ...source, dbname: database },
              target: { ...target, dbname: database },
              targetSystem: system,
              ...(subscriptionOid === undefined ? {} : { subscriptionOid }),
              ...(former === undefined ? {} : { former }),
            }
          : {
              engine: 'redis',
              name,
              source: { ...source, db: undefined },
              target: { ...target, db: undefined },
              settings,
            };
      });
    },
  };
}

/**
 * Removes all objects that a rehearsal of PostgreSQL created, whatever their state. Objects that could not be removed
 * remain in the record; otherwise the record is deleted.
 * @param keep whether the databases and roles on the target remain
 */
export async function cleanUpPostgresqlRehearsal(
  file: RehearsalRecordFile,
  { target }: RehearsalEndpoints<PostgresqlEndpoint>,
  ports: MigrationEngineDependencies,
  keep: boolean,
): Promise<readonly RehearsalLeftover[]> {
  const left: RehearsalLeftover[] = [...(await cleanUpFromMigrationJournal(ports))];
  if (!keep) left.push(...(await cleanUpTarget(file, target, ports)));
  if (left.length === 0) file.remove();
  return left;
}

async function cleanUpTarget(
  file: RehearsalRecordFile,
  target: PostgresqlEndpoint,
  ports: MigrationEngineDependencies,
): Promise<readonly RehearsalLeftover[]> {
  const { id, databases, roles, filled, system } = file.current();
  try {
    return await withEngineDatabaseSession(target, ports, { name: migrationEngineApplicationName }, async (session) => {
      const server = await readPostgresqlServerIdentity(session);
      if (server.system !== system)
        throw new Error('this is not the server of the rehearsal: its system identifier differs');
      const left: RehearsalLeftover[] = [];
      const owners = await listRehearsalOwnerRoles(session, id);
      for (const one of filled) {
        const rest = await restoreFilledDatabase(one, owners, target, ports);
        if (rest.length > 0) left.push(...rest);
        else file.change({ filled: file.current().filled.filter(({ name }) => name !== one.name) });
      }
      const gone = await dropRehearsalDatabases(session, databases, server.version);
      file.change({ databases: withoutDropped(databases, gone) });
      const free = await dropRehearsalRoles(session, [...roles, ...owners]);
      file.change({ roles: withoutDropped(roles, free) });
      return [...left, ...gone.leftovers, ...free.leftovers];
    });
  } catch (error) {
    const reason = redactErrorReason(error, target.password);
    const each = (what: string, statement: string) => (name: string) => ({
      side: 'target' as const,
      database: '',
      object: `${what} ${name}`,
      statement: `${statement} ${quoteIdentifier(name)}`,
      reason,
    });
    return [
      ...file.current().databases.map(({ name }) => each('database', 'DROP DATABASE')(name)),
      ...file.current().roles.map(({ name }) => each('role', 'DROP ROLE')(name)),
    ];
  }
}

async function restoreFilledDatabase(
  { name, ...before }: Parameters<typeof dropObjectsAddedToRehearsalTarget>[1] & { readonly name: string },
  owners: readonly RehearsalCreatedObject[],
  target: PostgresqlEndpoint,
  ports: MigrationEngineDependencies,
): Promise<readonly RehearsalLeftover[]> {
  const leftover = (object: string, reason: string): RehearsalLeftover => ({
    side: 'target',
    database: name,
    object,
    // The object name comes from the target server, so the statement is formatted as one line for psql.
    statement: formatSingleLinePsqlStatement(`DROP ${object} CASCADE`)?.slice(0, -1) ?? '',
    reason,
  });
  try {
    const rest = await withEngineDatabaseSession(
      { ...target, dbname: name },
      ports,
      { name: migrationEngineApplicationName },
      (session) =>
        dropObjectsAddedToRehearsalTarget(
          session,
          before,
          owners.map((owner) => owner.name),
        ),
    );
    return rest.map((object) => leftover(object, 'could not be dropped'));
  } catch (error) {
    return [leftover('the copied objects', redactErrorReason(error, target.password))];
  }
}

function withoutDropped<T extends { readonly name: string }>(
  all: readonly T[],
  { dropped: gone }: RehearsalObjectDropResult,
): readonly T[] {
  return all.filter(({ name }) => !gone.includes(name));
}
