import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { column, columns, rowsQuery } from '../query.ts';
import { sourceVersionNumber } from '../source-facts.ts';

/**
 * The databases with the oldest transaction ids, at most five, the oldest first. Only the oldest databases are
 * reported, because the wraparound limits apply to the whole server.
 */
const xidAgesQuery = rowsQuery({
  id: 'transaction-ages',
  scope: 'server',
  sql: () => 'SELECT datname, age(datfrozenxid) AS age FROM pg_database ORDER BY 2 DESC, 1 LIMIT 5',
  row: columns({
    database: column.text('datname'),
    /** Transaction ids assigned since the oldest one that is not frozen. */
    age: column.number('age'),
  }),
});

export const xidWraparoundCheck = declareServerCheck({
  id: 'xid-wraparound',
  title: 'transaction ids are far from wraparound',
  headline: 'Transaction ids are close to wraparound',
  severity: { continuous: 'blocker', dump: 'warning' },
  queries: { ages: xidAgesQuery },
  evaluate({ ages: [oldest] }, facts) {
    if (oldest === undefined) return passOutcome('no database');
    const { database, age } = oldest;
    const limit = wrapLimit - (sourceVersionNumber(facts) < 140_000 ? 1_000_000 : 3_000_000);
    const observed = `age ${age} in database ${database}`;
    const required = `age below ${failsafeAge}`;
    if (age < failsafeAge) return passOutcome(observed);
    const fix = {
      by: 'a superuser',
      text: `Find what holds back VACUUM (old transactions, prepared transactions, replication slots), then run VACUUM (FREEZE) in database ${database}. Connections to a database that accepts none must be allowed first.`,
    };
    if (age >= limit) {
      return failOutcome(['continuous'], observed, {
        headline: 'The server assigns no more transaction ids',
        required,
        detail: `At a transaction id age of ${limit} the server refuses all statements that write: "database is not accepting commands … to avoid wraparound data loss in database "${database}"". These include writes of the application and CREATE PUBLICATION. A dump is possible, because it only reads.`,
        fix,
      });
    }
    return warnOutcome(observed, {
      required,
      detail: `${limit - age} transactions are left until the server refuses all statements that write, at ${limit}. On a server whose autovacuum works, the age stays below 200 million (autovacuum_freeze_max_age), so something prevents autovacuum. If the limit is reached during the migration, the application stops.`,
      fix,
    });
  },
});

/**
 * Half of all transaction ids: the distance at which they wrap around. The server stops assigning transaction ids 3
 * million before the wraparound; before PostgreSQL 14, 1 million before it (SetTransactionIdLimit).
 */
const wrapLimit = 2 ** 31 - 1;

/** The default of vacuum_failsafe_age, at which VACUUM skips all work that is not urgent. */
const failsafeAge = 1_600_000_000;
