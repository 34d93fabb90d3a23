import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { estimateCopyTime, maxMigrationSeconds } from '../copy-estimate.ts';
import { migrationRoleQuery } from '../queries/migration-role.ts';
import { timeSpanText } from '../units.ts';

export const authExpiryWindowCheck = serverCheck({
  id: 'auth-expiry-window',
  title: 'the password is valid for two more weeks',
  headline: 'The password of the role expires within two weeks',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '8',
  needs: 'connection',
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
