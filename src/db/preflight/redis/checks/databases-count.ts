import { parseKeyspace } from '../../../../redis/info.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, describeKeyspace, namedDatabases, outcomeWithoutValue, redisMethods } from '../check.ts';
import { clusterDatabasesQuery, databaseLimitQuery, infoQuery } from '../queries.ts';

/** The number of Redis databases in a managed cluster, which is also the default of every Redis server. */
const managedDatabaseCount = 16;

export const databasesCountCheck = declareRedisCheck({
  id: 'databases-count',
  title: 'every database number exists on the target',
  headline: 'Some database numbers do not exist on the target',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    info: infoQuery,
    settings: markOptional(databaseLimitQuery),
    cluster: markOptional(clusterDatabasesQuery),
  },
  evaluate({ info, settings, cluster }, _facts, { targetDatabases }) {
    const count = targetDatabases ?? managedDatabaseCount;
    const beyond = parseKeyspace(info).filter(({ index }) => index >= count);
    const required = `keys in databases 0 to ${count - 1} only`;
    const remedy =
      targetDatabases === undefined
        ? 'name a target with more databases (--target)'
        : 'raise `databases` in the configuration of the target and restart it';
    if (beyond.length > 0) {
      const names = beyond.map(({ index }) => `db${index}`);
      return failOutcome(redisMethods, describeKeyspace(beyond), {
        required,
        detail: `The target exits while it loads the copy: \`FATAL: Data file was created with a server configured to handle more than ${count} databases\`.`,
        objects: names.slice(0, namedDatabases),
        only: names,
        fix: {
          text: `Move these keys to a database below ${count} (SELECT, SCAN, MOVE key DB) and the applications with them, or ${remedy}, and run the preflight again.`,
        },
      });
    }
    if (settings.kind !== 'known') return outcomeWithoutValue(settings);
    const isCluster = info.get('cluster_enabled') === '1';
    const ofCluster = isCluster ? valueOr(cluster, undefined)?.get('cluster-databases') : undefined;
    if (isCluster && cluster.kind === 'known' && ofCluster === undefined)
      return passOutcome('a cluster, with one database');
    const setting = ofCluster === undefined ? 'databases' : 'cluster-databases';
    const configured = Number(ofCluster ?? settings.value.get('databases') ?? managedDatabaseCount);
    if (configured <= count) return passOutcome(`${setting} ${configured}`);
    return {
      ...unknownOutcome(`${setting} ${configured}, none with keys above ${count - 1}`, {
        text: `Let no application select a database above ${count - 1} until the migration has ended, or ${remedy}.`,
      }),
      headline: 'Applications may write to databases that do not exist on the target',
      premise: `no application writes to a database above ${count - 1} during the migration`,
      settledBy: '--accept databases-count',
      required,
      detail:
        'When an application writes to such a database while the migration runs, the target logs `DB index is out of range` and puts the key into its database 0, where it may overwrite another one. No client receives an error.',
    };
  },
});
