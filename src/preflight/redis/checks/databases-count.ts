import { parseKeyspace } from '../../../redis/info.ts';
import { fail, pass, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { databasesConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery } from '../query.ts';

/** What a managed cluster has, and every server by default. */
export const targetDatabaseCount = 16;

export const databasesCountCheck = redisCheck({
  id: 'databases-count',
  title: 'no database has a number the target lacks',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: { server: infoQuery, setting: optionalQuery(databasesConfigQuery) },
  evaluate({ server, setting }) {
    const beyond = parseKeyspace(server).filter(({ index }) => index >= targetDatabaseCount);
    const required = `keys in databases 0 to ${targetDatabaseCount - 1} only`;
    if (beyond.length > 0) {
      const names = beyond.map(({ index }) => `db${index}`);
      return fail(redisMethods, beyond.map(({ index, keys }) => `db${index}: ${keys} keys`).join(', '), {
        required,
        detail: `The target exits while it loads: \`FATAL: Data file was created with a server configured to handle more than ${targetDatabaseCount} databases\`.`,
        objects: names,
        only: names,
        fix: {
          text: 'Move these keys to a database below 16 (SELECT, SCAN, MOVE key DB) and the applications with them, or raise databases on the target.',
        },
      });
    }
    if (setting.kind !== 'known') return unansweredOutcome(setting);
    const configured = Number(setting.value.get('databases') ?? targetDatabaseCount);
    const used = `databases ${configured}, none with keys above ${targetDatabaseCount - 1}`;
    if (configured <= targetDatabaseCount) return pass(`databases ${configured}`);
    return warn(used, {
      required,
      detail:
        'A first write to one of those while the migration runs makes the target log `DB index is out of range`, and the key lands in its database 0, without an error to anybody.',
      fix: { text: 'Make sure that no application selects a database above 15 until the migration is over.' },
    });
  },
});
