import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { type FindingFix, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, type FailedConnection, failedLoginOutcome, loginFailedReason } from '../login.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const dbExistsCheck = declareServerCheck({
  id: 'db-exists',
  title: 'the database exists and accepts this login',
  headline: 'The database does not exist or rejects this login',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.2',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLogin(
      facts,
      'db-exists',
      () => passOutcome(facts.dbname),
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

function databaseFix({ dbname, username }: PostgresqlFacts, why: FailedConnection): FindingFix {
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
  return { text: 'Correct the name of the database in the source: names are case-sensitive; psql -l lists them.' };
}
