import { quoteIdentifier } from '../../postgresql/quote.ts';
import { fail, pass, warn } from '../finding.ts';
import { serverCheck } from './check.ts';
import { estimateCopyTime, maxMigrationSeconds } from './copy-estimate.ts';
import { migrationRoleQuery } from './queries/migration-role.ts';
import { timeSpanText } from './units.ts';

/** Roles of managed services that may publish all tables without being superuser. */
const nearSuperusers = ['rds_superuser', 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin', 'neon_superuser'];

export const superuserCheck = serverCheck({
  id: 'superuser',
  title: 'the role is a superuser',
  spec: '4.6',
  needs: 'entry',
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

export const authExpiryWindowCheck = serverCheck({
  id: 'auth-expiry-window',
  title: 'the password outlives the migration',
  spec: '8',
  needs: 'entry',
  queries: { role: migrationRoleQuery },
  evaluate({ role }, { copy }) {
    if (role.secondsLeft === undefined) return pass('never expires');
    const name = quoteIdentifier(role.name);
    const more = {
      required: 'at least two weeks',
      detail:
        'A migration may take two weeks and connects again whenever a connection breaks. From then on it reads "password authentication failed"; only the log of the server tells that the password expired.',
      fix: {
        sql: [`ALTER ROLE ${name} VALID UNTIL 'infinity'`],
        undo: [`ALTER ROLE ${name} VALID UNTIL '${role.validUntil}'`],
        text: 'Let the password live on until the migration is over.',
      },
    };
    // Let in all the same, so the host rule that counts here asks for no password.
    if (role.secondsLeft < 0) return warn(`${role.validUntil}, which is over`, more);
    const observed = `${role.validUntil}, in ${timeSpanText(role.secondsLeft * 1000)}`;
    if (role.secondsLeft >= maxMigrationSeconds) return pass(observed, { required: more.required });
    const least = Math.max(soonest, copy === undefined ? 0 : estimateCopyTime(copy).low);
    if (role.secondsLeft >= least) return warn(observed, more);
    return fail(['continuous', 'dump'], observed, {
      ...more,
      required: `${more.required}, and never less than ${timeSpanText(least * 1000)}`,
    });
  },
});

/** Seconds in which nobody asks for a migration, confirms it and has it copied. */
const soonest = 60;
