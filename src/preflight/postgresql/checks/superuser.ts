import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { migrationRoleQuery } from '../queries/migration-role.ts';

/** Roles of managed services that may publish all tables without being superuser. */
const nearSuperusers = ['rds_superuser', 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin', 'neon_superuser'];

export const superuserCheck = serverCheck({
  id: 'superuser',
  title: 'the role is a superuser',
  headline: 'The role is not a superuser',
  severity: { continuous: 'blocker', dump: 'info' },
  spec: '4.6',
  needs: 'connection',
  queries: { role: migrationRoleQuery },
  evaluate({ role }) {
    if (role.superuser) return pass('superuser', { required: 'superuser' });
    const near = nearSuperusers.find((name) => role.memberOf.includes(name));
    if (near !== undefined) {
      return warn(`member of ${near}`, {
        required: 'superuser',
        detail: `The specification asks for a superuser; ${near} may create a publication for all tables on its service, provided it may replicate too (repl-connection).`,
      });
    }
    const name = quoteIdentifier(role.name);
    return fail(['continuous'], 'not a superuser', {
      required: 'superuser',
      detail:
        'CREATE PUBLICATION … FOR ALL TABLES is refused: "permission denied for database", and with CREATE on it "must be superuser to create FOR ALL TABLES publication". The service then copies a point in time instead, without a word.',
      fix: {
        sql: [`ALTER ROLE ${name} SUPERUSER`],
        undo: [`ALTER ROLE ${name} NOSUPERUSER`],
        text: 'Make the role a superuser for the time of the migration; on Amazon RDS: GRANT rds_superuser, rds_replication. Or ask for a dump, which needs less.',
      },
    });
  },
});
