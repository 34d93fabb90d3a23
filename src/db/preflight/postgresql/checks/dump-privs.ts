import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier, requoteName } from '../../../../postgresql/quote.ts';
import { type FindingFix, failOutcome, passOutcome, removalEffect, resultEffect, roleEffect } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { type UnreadableObject, unreadableLargeObjectsQuery, unreadableObjectsQuery } from '../queries/privileges.ts';
import { type MigrationRole, migrationRoleQuery } from '../queries/roles.ts';
import { sourceVersionNumber } from '../source-facts.ts';

export const dumpPrivsCheck = declareDatabaseCheck({
  id: 'dump-privs',
  title: 'the role can read all tables, sequences and large objects',
  headline: 'The role cannot read every table, sequence or large object',
  severity: { dump: 'blocker' },
  spec: 'S9.14',
  queries: {
    closed: unreadableObjectsQuery,
    closedLargeObjects: unreadableLargeObjectsQuery,
    role: migrationRoleQuery,
  },
  evaluate({ closed, closedLargeObjects, role }, database, facts) {
    const { username, connection } = facts;
    const numbers = { table: closed.tables, sequence: closed.sequences, 'large object': closedLargeObjects.length };
    const parts = Object.entries(numbers).filter(([, number]) => number > 0);
    if (parts.length === 0)
      return passOutcome(connection.kind === 'entered' && connection.superuser ? 'superuser' : 'all objects');
    const names = [...closed.objects.map(described), ...closedLargeObjects.map((oid) => `large object ${oid}`)];
    const all = parts.reduce((sum, [, number]) => sum + number, 0);
    return failOutcome(['dump'], `no access to ${parts.map(([one, number]) => countOf(number, one)).join(', ')}`, {
      required: 'CONNECT, USAGE on all schemas, SELECT on all tables and sequences',
      detail: `pg_dump stops at the first object that it cannot read: "${permissionError(closed.objects[0], closedLargeObjects[0])}".${unlistedNote(all)}`,
      objects: limitObjects(names),
      fix: fixOf(closed.objects, closedLargeObjects, {
        database,
        member: role,
        role: quoteIdentifier(username),
        version: sourceVersionNumber(facts),
      }),
    });
  },
});

interface Granting {
  readonly member: Pick<MigrationRole, 'inherits' | 'memberOf'>;
  readonly database: string;
  /** Quoted. */
  readonly role: string;
  readonly version: number;
}

/**
 * The role pg_read_all_data (PostgreSQL 14 and newer) allows its members to read the whole server, except large
 * objects.
 */
function fixOf(closed: readonly UnreadableObject[], objects: readonly string[], granting: Granting): FindingFix {
  const { database, role, version, member } = granting;
  const opened = objects.filter((oid) => /^\d+$/.test(oid)).map((oid) => `SELECT ON LARGE OBJECT ${oid}`);
  const hasIt = member.memberOf.includes('pg_read_all_data');
  if (version >= 140_000 && opened.length === 0 && (hasIt || !member.inherits)) return inheritingFix(granting, hasIt);
  if (version >= 140_000 && opened.length === 0) {
    return {
      sql: [`GRANT pg_read_all_data TO ${role}`],
      undo: [`REVOKE pg_read_all_data FROM ${role}`],
      effects: [roleEffect({ memberOf: 'pg_read_all_data' })],
      text: 'Allow the role to read all data in all databases for the duration of the migration.',
    };
  }
  const rights =
    version >= 140_000
      ? [...(closed.length === 0 ? [] : ['pg_read_all_data']), ...opened]
      : [
          ...new Set(
            closed.filter(({ usage }) => !usage).map(({ schema }) => `USAGE ON SCHEMA ${requoteName(schema)}`),
          ),
          ...closed
            .filter(({ select }) => !select)
            .map(({ kind, name }) => `SELECT ON ${kind === 'sequence' ? 'SEQUENCE' : 'TABLE'} ${requoteName(name)}`),
          ...opened,
        ];
  return {
    sql: rights.map((right) => `GRANT ${right} TO ${role}`),
    undo: rights.map((right) => `REVOKE ${right} FROM ${role}`),
    effects: [
      resultEffect(unreadableObjectsQuery, () => unreadableObjectsQuery.absent),
      removalEffect(unreadableLargeObjectsQuery, objects),
    ],
    database,
    by: 'the owner of the objects, or a superuser',
    text: 'Grant the missing privileges to the role for the duration of the migration.',
  };
}

/**
 * Privileges of a role membership that is not inherited apply only after SET ROLE, which pg_dump does not run. Since
 * PostgreSQL 16, INHERIT is a property of each role membership.
 */
function inheritingFix({ role, version }: Granting, hasIt: boolean): FindingFix {
  const grant = `GRANT pg_read_all_data TO ${role}`;
  const revoke = `REVOKE pg_read_all_data FROM ${role}`;
  const text =
    'Allow the role to read all data in all databases for the duration of the migration. The role has the privileges of the roles it is a member of only if it inherits them.';
  if (version >= 160_000) {
    return {
      sql: [`${grant} WITH INHERIT TRUE`],
      undo: [hasIt ? `${grant} WITH INHERIT FALSE` : revoke],
      effects: [roleEffect({ memberOf: 'pg_read_all_data' })],
      text,
    };
  }
  return {
    sql: [`ALTER ROLE ${role} INHERIT`, ...(hasIt ? [] : [grant])],
    undo: [...(hasIt ? [] : [revoke]), `ALTER ROLE ${role} NOINHERIT`],
    effects: [roleEffect({ inherits: true, memberOf: 'pg_read_all_data' })],
    text,
  };
}

function described({ kind, name, usage }: UnreadableObject): string {
  return `${kind === 'sequence' ? 'sequence ' : ''}${name}${usage ? '' : ' (no USAGE on its schema)'}`;
}

/** The error message of the server for an object that the role cannot read. */
function permissionError(first: UnreadableObject | undefined, object: string | undefined): string {
  if (first === undefined) return `permission denied for large object ${object}`;
  if (!first.usage) return `permission denied for schema ${first.schema}`;
  return `permission denied for ${first.kind} ${first.name.slice(first.schema.length + 1)}`;
}
