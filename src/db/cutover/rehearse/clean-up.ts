import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { singleLineSql } from '../../../postgresql/psql-script.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { cleanUpFromJournal, type EngineJournal, type EngineSystem, type JournalEntry } from '../../engine/index.ts';
import {
  engineName,
  readIdentity,
  redactReason,
  replicationName,
  singleValue,
  sqlStateOf,
  withSession,
} from '../../engine/tools.ts';
import { databaseOidQuery, dropAddedObjects, dropOwnedObjects, listForeign, listForeignCopies } from './existing.ts';
import type { CreatedObject, FilledDatabase, RecordFile, RehearsalRecord } from './record.ts';
import type { RehearsalLeftover } from './report.ts';

export interface RehearsalEndpoints<S> {
  readonly source: S;
  readonly target: S;
}

/**
 * A journal of the engine that is stored in the record of the rehearsal. The record contains no passwords; the command
 * that removes the objects receives them again.
 */
export function rehearsalJournal(
  file: RecordFile,
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
export async function cleanUpPostgres(
  file: RecordFile,
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
  file: RecordFile,
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
      const gone = await dropDatabases(session, unused, server.version);
      const free = await dropRoles(session, [...roles, ...owners]);
      failed.push(...gone.leftovers);
      // While a database of the rehearsal is used by others, the roles that own its objects cannot be dropped.
      (used.size > 0 ? uncertain : failed).push(...free.leftovers);
      // It is not certain that the rehearsal created an object without an oid.
      uncertain.push(...gone.uncertain, ...free.uncertain);
      const keepInRecord = ({ oid }: CreatedObject) => oid !== undefined || !isLate;
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
  { name, oid, ...before }: FilledDatabase,
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
      if (oid !== undefined && (await singleValue(session, databaseOidQuery)) !== oid) return nothingLeft;
      if (!isLate) {
        const rest = await dropAddedObjects(session, before, names);
        return { failed: rest.map(leftover('could not be dropped')), uncertain: [] };
      }
      const failed = await dropOwnedObjects(session, names).then(
        () => [],
        (error: unknown) => [copiedObjectsLeftover(name, names, redactReason(error, target.password))],
      );
      const others = await listForeign(session, before, names);
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
  const statement =
    largeObject === undefined ? `DROP ${object} CASCADE` : `SELECT pg_catalog.lo_unlink(${largeObject})`;
  return singleLineSql(statement)?.slice(0, -1) ?? '';
}

function withoutDropped<T extends { readonly name: string }>(
  all: readonly T[],
  { dropped: gone }: RehearsalObjectDropResult,
): readonly T[] {
  return all.filter(({ name }) => !gone.includes(name));
}

type QuerySession = Pick<SafeSession, 'query'>;

interface RehearsalObjectDropResult {
  /** Names of objects that were dropped, do not exist, or belong to others. */
  readonly dropped: readonly string[];
  /** Objects that could not be dropped. */
  readonly leftovers: readonly RehearsalLeftover[];
  /** Existing objects whose oid is not recorded, so they may belong to others. */
  readonly uncertain: readonly RehearsalLeftover[];
}

/**
 * Drops the databases that the rehearsal created. A database with the same name and another oid belongs to another user
 * and is not dropped.
 */
export function dropDatabases(
  session: QuerySession,
  databases: readonly CreatedObject[],
  version: number,
): Promise<RehearsalObjectDropResult> {
  const force = version >= 130_000 ? ' WITH (FORCE)' : '';
  return dropEach(session, databases, {
    what: 'database',
    found: (name) => `SELECT oid FROM pg_database WHERE datname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP DATABASE ${quoteIdentifier(name)}${force}`,
  });
}

/** Drops roles, after all objects that they may own or have privileges on. */
export function dropRoles(session: QuerySession, roles: readonly CreatedObject[]): Promise<RehearsalObjectDropResult> {
  // Dropping a role that another role depends on fails, and the failure is reported.
  return dropEach(session, roles, {
    what: 'role',
    found: (name) => `SELECT oid FROM pg_roles WHERE rolname = ${quoteLiteral(name)}`,
    statement: (name) => `DROP ROLE ${quoteIdentifier(name)}`,
  });
}

/**
 * The roles that owned the copied objects of a rehearsal: no other program creates roles whose names contain the id of
 * the rehearsal.
 */
async function listRehearsalOwnerRoles(session: QuerySession, id: string): Promise<readonly CreatedObject[]> {
  const prefix = replicationName(id, '');
  const rows = await session.query(
    `SELECT rolname AS name, oid FROM pg_roles WHERE starts_with(rolname, ${quoteLiteral(prefix)}) ORDER BY 1`,
  );
  return (rows.at(-1) ?? []).map(({ name, oid }) => ({ name: name ?? '', oid: oid ?? '' }));
}

interface ObjectKind {
  readonly what: string;
  readonly found: (name: string) => string;
  readonly statement: (name: string) => string;
}

/** The timeout is long, because dropping a large database must unlink all its files. */
const dropLimitMs = 300_000;

async function dropEach(
  session: QuerySession,
  objects: readonly CreatedObject[],
  kind: ObjectKind,
): Promise<RehearsalObjectDropResult> {
  const gone: string[] = [];
  const left: RehearsalLeftover[] = [];
  const uncertain: RehearsalLeftover[] = [];
  for (const { name, oid } of objects) {
    const reason = await dropOne(session, { name, oid }, kind).catch(errorText);
    if (reason === undefined) gone.push(name);
    else {
      const object = `${kind.what} ${name}`;
      const list = oid === undefined ? uncertain : left;
      list.push({ side: 'target', database: '', object, statement: kind.statement(name), reason });
    }
  }
  return { dropped: gone, leftovers: left, uncertain };
}

/**
 * Resolves with the reason of a failure; undefined if the object was dropped, does not exist or belongs to another
 * user.
 */
async function dropOne(
  session: QuerySession,
  { name, oid }: { readonly name: string; readonly oid: string | undefined },
  kind: ObjectKind,
): Promise<string | undefined> {
  const found = firstRow(await session.query(kind.found(name)))?.oid;
  if (found == null || (oid !== undefined && found !== oid)) return undefined;
  if (oid === undefined)
    return 'the rehearsal was interrupted while it created the object, so it may belong to another user';
  await session.query(kind.statement(name), dropLimitMs);
  return undefined;
}

export function firstRow(answers: readonly (readonly PostgresqlRow[])[]): PostgresqlRow | undefined {
  return answers.at(-1)?.[0];
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The databases that an interrupted rehearsal created and in which others have created objects since then: the name of
 * each with its leftover. Only a target with a superuser has owner roles that tell the objects apart.
 * @param owners names of the roles that own the copied objects
 */
async function findCreatedDatabasesUsedByOthers(
  databases: readonly CreatedObject[],
  owners: readonly string[],
  target: PostgresqlEndpoint,
  ports: EngineSystem,
): Promise<ReadonlyMap<string, RehearsalLeftover>> {
  const used = new Map<string, RehearsalLeftover>();
  for (const { name, oid } of databases) {
    if (oid === undefined) continue;
    try {
      await withSession({ ...target, dbname: name }, ports, { name: engineName }, async (session) => {
        if ((await singleValue(session, databaseOidQuery)) !== oid) return;
        const objects = await listForeignCopies(session, owners);
        if (objects.length > 0) used.set(name, toLeftover(name, objects));
      });
    } catch (error) {
      if (sqlStateOf(error) !== databaseDoesNotExist) throw error;
    }
  }
  return used;
}

function toLeftover(name: string, objects: readonly string[]): RehearsalLeftover {
  const statement = `DROP DATABASE ${quoteIdentifier(name)}`;
  const reason = `another user may have created ${objects.slice(0, 3).join(', ')}${objects.length > 3 ? ', …' : ''} in it`;
  return { side: 'target', database: '', object: `database ${name}`, statement, reason };
}

const databaseDoesNotExist = '3D000';
