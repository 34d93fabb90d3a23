import { parseKeyspace } from '../../../../redis/info.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { markOptional } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue, redisMethods } from '../check.ts';
import { databaseLimitQuery, infoQuery } from '../queries.ts';

/** The number of Redis databases in a managed cluster, which is also the default of every Redis server. */
const managedDatabaseCount = 16;

export const databasesCountCheck = declareRedisCheck({
  id: 'databases-count',
  title: 'every database number exists on the target',
  headline: 'Some database numbers do not exist on the target',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: infoQuery, settings: markOptional(databaseLimitQuery) },
  evaluate({ info, settings }) {
    const beyond = parseKeyspace(info).filter(({ index }) => index >= managedDatabaseCount);
    const required = `keys in databases 0 to ${managedDatabaseCount - 1} only`;
    if (beyond.length > 0) {
      const names = beyond.map(({ index }) => `db${index}`);
      return failOutcome(redisMethods, beyond.map(({ index, keys }) => `db${index}: ${keys} keys`).join(', '), {
        required,
        detail: `The target exits while it loads the copy: \`FATAL: Data file was created with a server configured to handle more than ${managedDatabaseCount} databases\`.`,
        objects: names,
        only: names,
        fix: {
          text: 'Move these keys to a database below 16 (SELECT, SCAN, MOVE key DB) and the applications with them, or raise databases on the target.',
        },
      });
    }
    if (settings.kind !== 'known') return outcomeWithoutValue(settings);
    const configured = Number(settings.value.get('databases') ?? managedDatabaseCount);
    if (configured <= managedDatabaseCount) return passOutcome(`databases ${configured}`);
    return warnOutcome(`databases ${configured}, none with keys above ${managedDatabaseCount - 1}`, {
      required,
      detail:
        'When an application writes to such a database while the migration runs, the target logs `DB index is out of range` and puts the key into its database 0. No client receives an error.',
      fix: { text: 'Let no application select a database above 15 until the migration has ended.' },
    });
  },
});
