import { parseKeyspace } from '../../../redis/info.ts';
import { pass, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { infoQuery } from '../queries/info.ts';

export const multiDbCheck = redisCheck({
  id: 'multi-db',
  title: 'all keys are in database 0',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery },
  evaluate({ server }) {
    const spaces = parseKeyspace(server);
    const others = spaces.filter(({ index }) => index > 0);
    const listed = spaces.map(({ index, keys }) => `db${index}: ${keys} keys`).join(', ');
    if (others.length === 0) return pass(listed === '' ? 'no keys' : listed);
    return warn(listed, {
      required: 'database 0 only, if the target is a cluster or has one database',
      detail: 'A target in cluster mode has database 0 alone: the keys of the others do not get there.',
      objects: others.map(({ index }) => `db${index}`),
      fix: { text: 'Take a target that is no cluster, or merge the databases first.' },
    });
  },
});
