import { formatDuration } from '../../../../base/text.ts';
import { quoteIdentifier, quoteLiteral } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome, roleEffect, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery } from '../queries/roles.ts';
import { estimateCopyTime, maxMigrationSeconds } from '../source-facts.ts';

export const authExpiryWindowCheck = declareServerCheck({
  id: 'auth-expiry-window',
  title: 'the password is valid for two more weeks',
  headline: 'The password of the role expires within two weeks',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.8',
  queries: { role: migrationRoleQuery },
  evaluate({ role }, { copy }) {
    if (role.secondsLeft === undefined) return passOutcome('never expires');
    const name = quoteIdentifier(role.name);
    const more = {
      required: 'a password that is valid for at least two weeks',
      detail:
        'A migration can take two weeks and reconnects after every lost connection. After the password expires, logins fail with "password authentication failed"; only the server log gives the reason.',
      fix: {
        sql: [`ALTER ROLE ${name} VALID UNTIL 'infinity'`],
        undo: [`ALTER ROLE ${name} VALID UNTIL ${quoteLiteral(role.validUntil)}`],
        effects: [roleEffect({ neverExpires: true })],
        text: 'Extend the validity of the password until the migration has finished.',
      },
    };
    // The role could log in without a password, so the matching pg_hba.conf rule requires none for this machine.
    if (role.secondsLeft < 0) return warnOutcome(`expired at ${role.validUntil}`, more);
    const observed = `${role.validUntil}, in ${formatDuration(role.secondsLeft * 1000)}`;
    if (role.secondsLeft >= maxMigrationSeconds) return passOutcome(observed, { required: more.required });
    const least = Math.max(soonest, copy === undefined ? 0 : estimateCopyTime(copy).low);
    if (role.secondsLeft >= least) return warnOutcome(observed, more);
    return failOutcome(['continuous', 'dump'], observed, {
      ...more,
      required: `${more.required}; at the very least for ${formatDuration(least * 1000)}`,
    });
  },
});

/** The minimum number of seconds in which a migration can be requested, confirmed and copied. */
const soonest = 60;
