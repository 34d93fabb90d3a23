import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { formatSingleLinePsqlStatement } from '../../../postgresql/psql-script.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { cleanUpFromJournal } from '../../engine/engine.ts';
import { redactReason, sqlStateOf } from '../../engine/error.ts';
import type { EngineSystem } from '../../engine/input.ts';
import type { EngineJournal, JournalEntry } from '../../engine/journal.ts';
import { readIdentity } from '../../engine/postgresql/identity.ts';
import { engineName } from '../../engine/postgresql/names.ts';
import { singleValue, withSession } from '../../engine/postgresql/session.ts';
import type {
  FormerlyEmptyDatabase,
  RehearsalCreatedObject,
  RehearsalRecord,
  RehearsalRecordFile,
} from '../rehearsal-record.ts';
import type { RehearsalLeftover } from '../rehearsal-report.ts';
import {
  dropRehearsalDatabases,
  dropRehearsalRoles,
  listRehearsalOwnerRoles,
  type RehearsalObjectDropResult,
} from './drop-objects.ts';
import {
  currentDatabaseOidQuery,
  dropObjectsAddedToRehearsalTarget,
  dropObjectsOfRehearsalRoles,
  listFirstObjectsOfOthers,
} from './existing-objects.ts';
import { databaseDoesNotExist, findCreatedDatabasesUsedByOthers } from './find-created-databases-used-by-others.ts';

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
): EngineJournal {
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
        const filled = [{ name: 'keys', extensions: [], schemas: [], publications: [], eventTriggers: [] }];
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
      return objects.map(({ name, database, former, subscriptionOid }): JournalEntry => {
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
 * Removes the objects that a rehearsal of PostgreSQL created. The record keeps what could not be removed, or is deleted.
 * @param how `keep`: the databases and roles on the target remain; `isLate`: the rehearsal was interrupted, and others
 * may have used the target since then. Then only objects that certainly belong to the rehearsal are dropped. The others
 * are returned once, and the record forgets them, so that they do not prevent every later rehearsal.
 */
export async function cleanUpPostgresqlRehearsal(
  file: RehearsalRecordFile,
  { target }: RehearsalEndpoints<PostgresqlEndpoint>,
  ports: EngineSystem,
  { keep, isLate }: { readonly keep: boolean; readonly isLate: boolean },
): Promise<readonly RehearsalLeftover[]> {
  const fromJournal = await cleanUpFromJournal(ports);
  // What the migration left on the target would be taken for an object of others.
  const isTargetSkipped = keep || (isLate && fromJournal.some(({ side }) => side === 'target'));
  const { failed, uncertain } = isTargetSkipped ? nothingLeft : await cleanUpTarget(file, target, ports, isLate);
  if (fromJournal.length === 0 && failed.length === 0) file.remove();
  return [...fromJournal, ...failed, ...uncertain];
}

/** What a clean-up of the target left. */
interface TargetLeftovers {
  /** Objects of the rehearsal that could not be dropped; the next clean-up tries again. */
  readonly failed: readonly RehearsalLeftover[];
  /** Objects that may belong to others; no clean-up drops them. */
  readonly uncertain: readonly RehearsalLeftover[];
}

const nothingLeft: TargetLeftovers = { failed: [], uncertain: [] };

async function cleanUpTarget(
  file: RehearsalRecordFile,
  target: PostgresqlEndpoint,
  ports: EngineSystem,
  isLate: boolean,
): Promise<TargetLeftovers> {
  const { id, databases, roles, filled, system } = file.current();
  try {
    return await withSession(target, ports, { name: engineName }, async (session) => {
      const server = await readIdentity(session);
      if (server.system !== system) {
        const left = listRecordedObjects(
          file.current(),
          'the target is not the server of the rehearsal any more: its system identifier differs',
        );
        return isLate ? { failed: [], uncertain: left } : { failed: left, uncertain: [] };
      }
      const failed: RehearsalLeftover[] = [];
      const uncertain: RehearsalLeftover[] = [];
      const owners = await listRehearsalOwnerRoles(session, id);
      const names = owners.map((owner) => owner.name);
      for (const one of filled) {
        const rest = await restoreFilledDatabase(one, names, target, ports, isLate);
        uncertain.push(...rest.uncertain);
        if (rest.failed.length > 0) failed.push(...rest.failed);
        else file.change({ filled: file.current().filled.filter(({ name }) => name !== one.name) });
      }
      const used =
        isLate && server.isSuperuser
          ? await findCreatedDatabasesUsedByOthers(databases, names, target, ports)
          : new Map<string, RehearsalLeftover>();
      uncertain.push(...used.values());
      const unused = databases.filter(({ name }) => !used.has(name));
      const gone = await dropRehearsalDatabases(session, unused, server.version);
      const free = await dropRehearsalRoles(session, [...roles, ...owners]);
      failed.push(...gone.leftovers);
      // While a database of the rehearsal is used by others, the roles that own its objects cannot be dropped.
      (used.size > 0 ? uncertain : failed).push(...free.leftovers);
      // It is not certain that the rehearsal created an object without an oid.
      uncertain.push(...gone.uncertain, ...free.uncertain);
      const keepInRecord = ({ oid }: RehearsalCreatedObject) => oid !== undefined || !isLate;
      file.change({
        databases: withoutDropped(unused, gone).filter(keepInRecord),
        roles: withoutDropped(roles, free).filter(keepInRecord),
      });
      return isLate ? { failed, uncertain } : { failed: [...failed, ...uncertain], uncertain: [] };
    });
  } catch (error) {
    return { failed: listRecordedObjects(file.current(), redactReason(error, target.password)), uncertain: [] };
  }
}

function listRecordedObjects(
  { filled, databases, roles }: RehearsalRecord,
  reason: string,
): readonly RehearsalLeftover[] {
  const each = (what: string, statement: string) => (name: string) => ({
    side: 'target' as const,
    database: '',
    object: `${what} ${name}`,
    statement: `${statement} ${quoteIdentifier(name)}`,
    reason,
  });
  return [
    ...filled.map(({ name }) => copiedObjectsLeftover(name, [], reason)),
    ...databases.map(({ name }) => each('database', 'DROP DATABASE')(name)),
    ...roles.map(({ name }) => each('role', 'DROP ROLE')(name)),
  ];
}

async function restoreFilledDatabase(
  { name, oid, ...before }: FormerlyEmptyDatabase,
  names: readonly string[],
  target: PostgresqlEndpoint,
  ports: EngineSystem,
  isLate: boolean,
): Promise<TargetLeftovers> {
  const leftover = (reason: string) => (object: string) => ({
    ...{ side: 'target' as const, database: name, object, reason },
    statement: formatDropStatement(object),
  });
  try {
    return await withSession({ ...target, dbname: name }, ports, { name: engineName }, async (session) => {
      // A database with another oid was created later, so it contains nothing of the rehearsal.
      if (oid !== undefined && (await singleValue(session, currentDatabaseOidQuery)) !== oid) return nothingLeft;
      if (!isLate) {
        const rest = await dropObjectsAddedToRehearsalTarget(session, before, names);
        return { failed: rest.map(leftover('could not be dropped')), uncertain: [] };
      }
      const failed = await dropObjectsOfRehearsalRoles(session, names).then(
        () => [],
        (error: unknown) => [copiedObjectsLeftover(name, names, redactReason(error, target.password))],
      );
      const others = await listFirstObjectsOfOthers(session, before, names);
      return { failed, uncertain: others.map(leftover('another user may have created the object')) };
    });
  } catch (error) {
    if (sqlStateOf(error) === databaseDoesNotExist) return nothingLeft;
    const reason = redactReason(error, target.password);
    return { failed: [copiedObjectsLeftover(name, names, reason)], uncertain: [] };
  }
}

function copiedObjectsLeftover(database: string, owners: readonly string[], reason: string): RehearsalLeftover {
  const statement = owners.length === 0 ? '' : `DROP OWNED BY ${owners.map(quoteIdentifier).join(', ')} CASCADE`;
  return { side: 'target', database, object: 'the copied objects', statement, reason };
}

/** The object name comes from the target server, so the statement is formatted as one line for psql. */
function formatDropStatement(object: string): string {
  const largeObject = /^large object (\d+)$/.exec(object)?.[1];
  const statement = largeObject === undefined ? `DROP ${object} CASCADE` : `SELECT lo_unlink(${largeObject})`;
  return formatSingleLinePsqlStatement(statement)?.slice(0, -1) ?? '';
}

function withoutDropped<T extends { readonly name: string }>(
  all: readonly T[],
  { dropped: gone }: RehearsalObjectDropResult,
): readonly T[] {
  return all.filter(({ name }) => !gone.includes(name));
}
