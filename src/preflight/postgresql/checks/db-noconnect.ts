import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, fail, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { explainRefusal } from '../login-steps.ts';
import { databasesQuery } from '../queries/databases.ts';
import type { DatabaseAccess } from '../source-facts.ts';
import { countText } from '../units.ts';

export const dbNoconnectCheck = databaseCheck({
  id: 'db-noconnect',
  title: 'the role can connect to the database',
  headline: 'The database cannot be accessed',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  queries: { databases: databasesQuery },
  evaluate({ databases }, database, facts) {
    const found = databases.find(({ name }) => name === database);
    const name = quoteIdentifier(database);
    const user = quoteIdentifier(facts.username);
    const ignore = `or leave it out with --ignore-dbs ${database}.`;
    if (found?.connectionLimit === -2) {
      return fail(['continuous', 'dump'], 'half dropped', {
        required: 'a whole database',
        detail: `A DROP DATABASE was interrupted: "cannot connect to invalid database ${name}".`,
        fix: { sql: [`DROP DATABASE IF EXISTS ${name}`], text: `Drop it for good, ${ignore}` },
      });
    }
    if (found?.template === true) {
      return fail(['continuous', 'dump'], 'datistemplate is true', {
        required: 'false',
        detail: 'A template is passed over in silence: nothing of it comes to the target.',
        fix: {
          sql: [`ALTER DATABASE ${name} IS_TEMPLATE false`],
          undo: [`ALTER DATABASE ${name} IS_TEMPLATE true`],
          text: `Make it an ordinary database for the time of the migration, ${ignore}`,
        },
      });
    }
    if (found?.allowsConnections === false) {
      return fail(['continuous', 'dump'], 'datallowconn is false', {
        required: 'true',
        detail: `"database ${name} is not currently accepting connections": it ends failed, whatever becomes of the others.`,
        fix: {
          sql: [`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`],
          undo: [`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`],
          text: `Let it take connections, ${ignore}`,
        },
      });
    }
    if (found?.mayConnect === false) {
      return fail(['continuous', 'dump'], 'no CONNECT', {
        required: 'CONNECT',
        detail: `"permission denied for database ${name}": it ends failed, whatever becomes of the others.`,
        fix: {
          sql: [`GRANT CONNECT ON DATABASE ${name} TO ${user}`],
          undo: [`REVOKE CONNECT ON DATABASE ${name} FROM ${user}`],
          text: `Let the role connect, ${ignore}`,
        },
      });
    }
    const reach = facts.access.get(database);
    if (reach?.kind === 'refused') {
      const why = refusalOf(reach.code);
      return fail(['continuous', 'dump'], `refused (${reach.code})`, {
        required: 'a connection',
        detail: `The server said: "${reach.message}".${why.detail === undefined ? '' : ` ${why.detail}`}`,
        fix: { text: `${why.cure} Or leave it out with --ignore-dbs ${database}.` },
      });
    }
    if (reach?.kind === 'entered' && reach.broken === undefined) return pass('entered');
    const limit = found?.connectionLimit ?? -1;
    const bound = facts.connection.kind === 'entered' && !facts.connection.superuser;
    if (reach?.kind === 'lost' && limit >= 0 && bound) {
      return fail(['continuous', 'dump'], `it could not be entered: ${reach.message}`, {
        required: 'a connection',
        detail: `The database takes ${countText(limit, 'connection')} at a time (CONNECTION LIMIT), of all roles but superusers together.`,
        fix: {
          sql: [`ALTER DATABASE ${name} CONNECTION LIMIT -1`],
          undo: [`ALTER DATABASE ${name} CONNECTION LIMIT ${limit}`],
          text: `Lift the limit for the time of the migration, ${ignore}`,
        },
      });
    }
    return notJudged(reach, ignore);
  },
});

/** A rule of pg_hba.conf refuses with one code alone; every other refusal says what it says of any login. */
function refusalOf(code: string): { readonly detail?: string; readonly cure: string } {
  if (code === '28000') return { cure: 'Let the role in to this database too (hba-rule).' };
  const { detail, fix } = explainRefusal(code);
  return { detail, cure: fix.text };
}

/** Nobody knows what is in it, and what is not known to be possible must not be called so. */
function notJudged(reach: DatabaseAccess | undefined, ignore: string): CheckOutcome {
  const broken = reach?.kind === 'entered' ? reach.broken : undefined;
  const observed =
    reach?.kind === 'lost'
      ? `it could not be entered: ${reach.message}`
      : broken === undefined
        ? 'the time was over before it was tried'
        : `the connection ended while it was asked: ${broken}`;
  return fail(['continuous', 'dump'], observed, {
    required: 'an answer',
    detail: 'It was not judged, so nobody can promise that it will be migrated.',
    fix: { text: `Run the preflight again, with more time if that was short (--deadline 5m), ${ignore}` },
  });
}
