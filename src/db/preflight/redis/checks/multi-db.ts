import { parseKeyspace } from '../../../../redis/info.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareRedisCheck, describeKeyspace, namedDatabases } from '../check.ts';
import { infoQuery } from '../queries.ts';

export const multiDbCheck = declareRedisCheck({
  id: 'multi-db',
  title: 'all keys are in database 0',
  headline: 'Some keys are not in database 0',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: { info: infoQuery },
  evaluate({ info }) {
    const keyspace = parseKeyspace(info);
    const others = keyspace.filter(({ index }) => index > 0);
    const observed = describeKeyspace(keyspace);
    if (others.length === 0) return passOutcome(observed === '' ? 'no keys' : observed);
    return warnOutcome(observed, {
      required: 'keys in database 0 only, when the target is a cluster or has one database',
      detail: 'A target in cluster mode has database 0 only, so the keys of the other databases are not copied.',
      objects: others.slice(0, namedDatabases).map(({ index }) => `db${index}`),
      fix: { text: 'Use a target without cluster mode, or move all keys to database 0 first.' },
    });
  },
});
