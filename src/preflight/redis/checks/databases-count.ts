import { parseKeyspace } from '../../../redis/info.ts';
import { fail, pass, warn } from '../../finding.ts';
import { optionalQuery } from '../../query.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { databasesConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';

/** The number of databases of a managed cluster, and of every server by default. */
export const targetDatabaseCount = 16;

export const databasesCountCheck = redisCheck({
  id: 'databases-count',
  title: 'every database number exists on the target',
  headline: 'Some database numbers do not exist on the target',
  needs: 'connection',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: infoQuery, settings: optionalQuery(databasesConfigQuery) },
  evaluate({ info, settings }) {
    const beyond = parseKeyspace(info).filter(({ index }) => index >= targetDatabaseCount);
    const required = `keys in databases 0 to ${targetDatabaseCount - 1} only`;
    if (beyond.length > 0) {
      const names = beyond.map(({ index }) => `db${index}`);
      return fail(redisMethods, beyond.map(({ index, keys }) => `db${index}: ${keys} keys`).join(', '), {
        required,
        detail: `The target exits while it loads the copy: \`FATAL: Data file was created with a server configured to handle more than ${targetDatabaseCount} databases\`.`,
        objects: names,
        only: names,
        fix: {
          text: 'Move these keys to a database below 16 (SELECT, SCAN, MOVE key DB) and the applications with them, or raise databases on the target.',
        },
      });
    }
    if (settings.kind !== 'known') return outcomeWithoutResult(settings);
    const configured = Number(settings.value.get('databases') ?? targetDatabaseCount);
    if (configured <= targetDatabaseCount) return pass(`databases ${configured}`);
    return warn(`databases ${configured}, none with keys above ${targetDatabaseCount - 1}`, {
      required,
      detail:
        'When an application writes to such a database while the migration runs, the target logs `DB index is out of range` and puts the key into its database 0. No client receives an error.',
      fix: { text: 'Let no application select a database above 15 until the migration has ended.' },
    });
  },
});
