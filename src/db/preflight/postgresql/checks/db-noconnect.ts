import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { type CheckOutcome, failOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';
import { explainLocks, explainRefusedLogin } from '../login.ts';
import { databasesQuery } from '../queries/cluster.ts';
import type { DatabaseAccess } from '../source-facts.ts';

export const dbNoconnectCheck = declareDatabaseCheck({
  id: 'db-noconnect',
  title: 'the role can connect to the database',
  headline: 'The database cannot be accessed',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.13',
  queries: { databases: databasesQuery },
  evaluate({ databases }, database, facts) {
    const found = databases.find(({ name }) => name === database);
    const name = quoteIdentifier(database);
    const user = quoteIdentifier(facts.username);
    const ignore = `or exclude the database with --ignore-dbs ${database}.`;
    if (found?.connectionLimit === -2) {
      return failOutcome(['continuous', 'dump'], 'invalid, DROP DATABASE was interrupted', {
        required: 'a valid database',
        detail: `A DROP DATABASE was interrupted: "cannot connect to invalid database ${name}".`,
        fix: {
          review: [`DROP DATABASE IF EXISTS ${name}`],
          notSimulated: notChecked,
          text: `Drop the database, ${ignore}`,
        },
      });
    }
    if (found?.template === true) {
      return failOutcome(['continuous', 'dump'], 'datistemplate is true', {
        required: 'false',
        detail: 'Template databases are skipped without an error: nothing of a template database is migrated.',
        fix: {
          sql: [`ALTER DATABASE ${name} IS_TEMPLATE false`],
          undo: [`ALTER DATABASE ${name} IS_TEMPLATE true`],
          notSimulated: notChecked,
          text: `Make the template database an ordinary database for the duration of the migration, ${ignore}`,
        },
      });
    }
    if (found?.allowsConnections === false) {
      return failOutcome(['continuous', 'dump'], 'datallowconn is false', {
        required: 'true',
        detail: `"database ${name} is not currently accepting connections": its migration fails, whatever the result for the other databases.`,
        fix: {
          sql: [`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`],
          undo: [`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`],
          notSimulated: notChecked,
          text: `Allow connections to the database, ${ignore}`,
        },
      });
    }
    if (found?.mayConnect === false) {
      return failOutcome(['continuous', 'dump'], 'no CONNECT', {
        required: 'CONNECT',
        detail: `"permission denied for database ${name}": its migration fails, whatever the result for the other databases.`,
        fix: {
          sql: [`GRANT CONNECT ON DATABASE ${name} TO ${user}`],
          undo: [`REVOKE CONNECT ON DATABASE ${name} FROM ${user}`],
          by: 'the owner of the database, or a superuser',
          notSimulated: notChecked,
          text: `Grant CONNECT to the role, ${ignore}`,
        },
      });
    }
    const reach = facts.access.get(database);
    if (reach?.kind === 'refused') {
      const why = causeOf(reach.code);
      return failOutcome(['continuous', 'dump'], `rejected (${reach.code})`, {
        required: 'a connection',
        detail: `The server reported: "${reach.message}".${why.detail === undefined ? '' : ` ${why.detail}`}`,
        fix: { text: `${why.fix} As an alternative, exclude the database with --ignore-dbs ${database}.` },
      });
    }
    if (reach?.kind === 'entered' && reach.broken === undefined) return passOutcome('connected');
    const limit = found?.connectionLimit ?? -1;
    const bound = facts.connection.kind === 'entered' && !facts.connection.superuser;
    if (reach?.kind === 'lost' && limit >= 0 && bound) {
      return failOutcome(['continuous', 'dump'], `could not connect: ${reach.message}`, {
        required: 'a connection',
        detail: `The database allows ${countOf(limit, 'connection')} at a time (CONNECTION LIMIT), for all roles except superusers together.`,
        fix: {
          sql: [`ALTER DATABASE ${name} CONNECTION LIMIT -1`],
          undo: [`ALTER DATABASE ${name} CONNECTION LIMIT ${limit}`],
          notSimulated: notChecked,
          text: `Remove the limit for the duration of the migration, ${ignore}`,
        },
      });
    }
    return notJudged(reach, ignore);
  },
});

const notChecked = 'the contents of the database were not checked';

/**
 * A rejection by pg_hba.conf has SQLSTATE 28000. Every other SQLSTATE has the same explanation as for the first login
 * of the preflight.
 */
function causeOf(code: string): { readonly detail?: string; readonly fix: string } {
  if (code === '28000') return { fix: 'Allow the role to connect to this database in pg_hba.conf (hba-rule).' };
  const { detail, fix } = explainRefusedLogin(code);
  return { detail, fix: fix.text };
}

/** A database whose contents are unknown must not be reported as one that can be migrated. */
function notJudged(reach: DatabaseAccess | undefined, ignore: string): CheckOutcome {
  const lock = explainLocks(reach?.kind === 'lost' ? (reach.locks ?? []) : []);
  const broken = reach?.kind === 'entered' ? reach.broken : undefined;
  const observed =
    reach?.kind === 'lost'
      ? `could not connect: ${reach.message}`
      : broken === undefined
        ? 'the time limit was reached before the database was checked'
        : `the connection was lost during the queries: ${broken}`;
  return failOutcome(['continuous', 'dump'], observed, {
    headline: 'The database was not checked',
    required: 'a response',
    detail: `${lock === undefined ? 'The database was not checked' : `${lock.detail} The database was not checked`}, so it is not known whether the database can be migrated.`,
    fix: {
      text: `${lock === undefined ? '' : `${lock.text} `}Run the preflight again, with more time if needed (--deadline 5m), ${ignore}`,
    },
  });
}
