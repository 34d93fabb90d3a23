import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type Fix, pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failedLoginOutcome, loginFailedReason, type RefusedConnection } from '../login-steps.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';

export const dbExistsCheck = serverCheck({
  id: 'db-exists',
  title: 'the database exists and accepts this login',
  headline: 'The database does not exist or rejects this login',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLoginStep(
      facts,
      'db-exists',
      () => pass(facts.dbname),
      (why) =>
        failedLoginOutcome(why, {
          ...(why.kind === 'refused' && why.asked === true ? revokedFromPublic : {}),
          required: `a database ${facts.dbname} that ${facts.username} can connect to`,
          fix: databaseFix(facts, why),
        }),
    );
  },
});

const revokedFromPublic = {
  detail:
    'The login succeeded, but the first query was denied: a privilege that every client needs was revoked from PUBLIC.',
};

function databaseFix({ dbname, username }: PostgresqlSourceFacts, why: RefusedConnection): Fix {
  const { code } = why;
  const [database, role] = [quoteIdentifier(dbname), quoteIdentifier(username)];
  if (code === '42501' && why.kind === 'refused' && why.asked === true) {
    return {
      sql: [
        `GRANT USAGE ON SCHEMA pg_catalog TO ${role}`,
        `GRANT EXECUTE ON FUNCTION pg_catalog.pg_backend_pid() TO ${role}`,
      ],
      database: dbname,
      notSimulated: loginFailedReason,
      text: 'Grant the privileges to the role; pg_dump and the migration need them as well.',
    };
  }
  if (code === '42501') {
    return {
      sql: [`GRANT CONNECT ON DATABASE ${database} TO ${role}`],
      undo: [`REVOKE CONNECT ON DATABASE ${database} FROM ${role}`],
      notSimulated: loginFailedReason,
      text: 'Grant CONNECT on the database to the role.',
    };
  }
  if (code === '55000') {
    return {
      sql: [`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS true`],
      undo: [`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS false`],
      notSimulated: loginFailedReason,
      text: 'Allow connections to the database, or use another database in --dbname. A database reported as invalid can only be dropped.',
    };
  }
  return { text: 'Correct --dbname: names are case-sensitive; psql -l lists them.' };
}
