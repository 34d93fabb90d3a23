import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { type FindingFix, passOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import {
  buildFailedPostgresqlLoginOutcome,
  databaseLoginFailedSkipReason,
  evaluatePostgresqlLoginStep,
  type FailedPostgresqlConnection,
} from '../login.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';

export const dbExistsCheck = declareServerPreflightCheck({
  id: 'db-exists',
  title: 'the database exists and accepts this login',
  headline: 'The database does not exist or rejects this login',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.2',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluatePostgresqlLoginStep(
      facts,
      'db-exists',
      () => passOutcome(facts.dbname),
      (why) =>
        buildFailedPostgresqlLoginOutcome(why, {
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

function databaseFix({ dbname, username }: PostgresqlSourceFacts, why: FailedPostgresqlConnection): FindingFix {
  const { code } = why;
  const [database, role] = [quoteIdentifier(dbname), quoteIdentifier(username)];
  if (code === '42501' && why.kind === 'refused' && why.asked === true) {
    return {
      sql: [
        `GRANT USAGE ON SCHEMA pg_catalog TO ${role}`,
        `GRANT EXECUTE ON FUNCTION pg_catalog.pg_backend_pid() TO ${role}`,
      ],
      database: dbname,
      notSimulated: databaseLoginFailedSkipReason,
      text: 'Grant the privileges to the role; pg_dump and the migration need them as well.',
    };
  }
  if (code === '42501') {
    return {
      sql: [`GRANT CONNECT ON DATABASE ${database} TO ${role}`],
      undo: [`REVOKE CONNECT ON DATABASE ${database} FROM ${role}`],
      notSimulated: databaseLoginFailedSkipReason,
      text: 'Grant CONNECT on the database to the role.',
    };
  }
  if (code === '55000') {
    return {
      sql: [`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS true`],
      undo: [`ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS false`],
      notSimulated: databaseLoginFailedSkipReason,
      text: 'Allow connections to the database, or use another database in --dbname. A database reported as invalid can only be dropped.',
    };
  }
  return { text: 'Correct --dbname: names are case-sensitive; psql -l lists them.' };
}
