import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome, roleEffect, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery } from '../queries/roles.ts';

/** Roles of managed services that can create a publication for all tables without being superuser. */
const nearSuperusers = ['rds_superuser', 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin', 'neon_superuser'];

export const superuserCheck = declareServerCheck({
  id: 'superuser',
  title: 'the role is a superuser',
  headline: 'The role is not a superuser',
  severity: { continuous: 'blocker', dump: 'info' },
  spec: 'S9.13',
  queries: { role: migrationRoleQuery },
  evaluate({ role }) {
    if (role.superuser) return passOutcome('superuser', { required: 'superuser' });
    const near = nearSuperusers.find((name) => role.memberOf.includes(name));
    if (near !== undefined) {
      return warnOutcome(`member of ${near}`, {
        required: 'superuser',
        detail: `The specification requires a superuser; on its managed service, ${near} can create a publication for all tables if it can also replicate (repl-connection).`,
      });
    }
    const name = quoteIdentifier(role.name);
    return failOutcome(['continuous'], 'not a superuser', {
      required: 'superuser',
      detail:
        'CREATE PUBLICATION … FOR ALL TABLES fails: "permission denied for database", or with CREATE on the database "must be superuser to create FOR ALL TABLES publication". The service then migrates with a dump instead of replication, without an error.',
      fix: {
        sql: [`ALTER ROLE ${name} SUPERUSER`],
        undo: [`ALTER ROLE ${name} NOSUPERUSER`],
        effects: [roleEffect({ superuser: true })],
        text: 'Make the role a superuser for the duration of the migration; on Amazon RDS: GRANT rds_superuser, rds_replication. As an alternative, migrate with a dump, which needs fewer privileges.',
      },
    });
  },
});
