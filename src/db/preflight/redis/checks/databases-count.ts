import { parseKeyspace } from '../../../../redis/info.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { markPreflightQueryOptional } from '../../query.ts';
import { declareRedisPreflightCheck, redisMigrationMethods } from '../check.ts';
import { buildRedisOutcomeWithoutQueryResult } from '../commands.ts';
import { redisDatabasesConfigQuery, redisInfoQuery } from '../queries.ts';

/** The number of Redis databases in a managed cluster, which is also the default of every Redis server. */
const managedRedisDatabaseCount = 16;

export const databasesCountCheck = declareRedisPreflightCheck({
  id: 'databases-count',
  title: 'every database number exists on the target',
  headline: 'Some database numbers do not exist on the target',
  needs: 'connection',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: redisInfoQuery, settings: markPreflightQueryOptional(redisDatabasesConfigQuery) },
  evaluate({ info, settings }) {
    const beyond = parseKeyspace(info).filter(({ index }) => index >= managedRedisDatabaseCount);
    const required = `keys in databases 0 to ${managedRedisDatabaseCount - 1} only`;
    if (beyond.length > 0) {
      const names = beyond.map(({ index }) => `db${index}`);
      return failOutcome(
        redisMigrationMethods,
        beyond.map(({ index, keys }) => `db${index}: ${keys} keys`).join(', '),
        {
          required,
          detail: `The target exits while it loads the copy: \`FATAL: Data file was created with a server configured to handle more than ${managedRedisDatabaseCount} databases\`.`,
          objects: names,
          only: names,
          fix: {
            text: 'Move these keys to a database below 16 (SELECT, SCAN, MOVE key DB) and the applications with them, or raise databases on the target.',
          },
        },
      );
    }
    if (settings.kind !== 'known') return buildRedisOutcomeWithoutQueryResult(settings);
    const configured = Number(settings.value.get('databases') ?? managedRedisDatabaseCount);
    if (configured <= managedRedisDatabaseCount) return passOutcome(`databases ${configured}`);
    return warnOutcome(`databases ${configured}, none with keys above ${managedRedisDatabaseCount - 1}`, {
      required,
      detail:
        'When an application writes to such a database while the migration runs, the target logs `DB index is out of range` and puts the key into its database 0. No client receives an error.',
      fix: { text: 'Let no application select a database above 15 until the migration has ended.' },
    });
  },
});
