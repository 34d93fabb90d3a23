import { infoNumber } from '../../../redis/info.ts';
import { pass, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { configSetFix } from '../fixes.ts';
import { minReplicasConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery } from '../query.ts';

export const minReplicasCheck = redisCheck({
  id: 'min-replicas',
  title: 'writes do not depend on the number of replicas',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, settings: optionalQuery(minReplicasConfigQuery) },
  evaluate({ server, settings }) {
    // The line is there only when a number is set, so INFO tells what a hidden CONFIG does not.
    const good = infoNumber(server, 'min_slaves_good_slaves');
    const names = ['min-replicas-to-write', 'min-slaves-to-write'];
    const values = settings.kind === 'known' ? settings.value : new Map<string, string>();
    const name = names.find((one) => values.has(one));
    const value = Number(name === undefined ? 0 : values.get(name));
    if (value === 0 && good === undefined) {
      return settings.kind === 'known'
        ? pass('min-replicas-to-write 0')
        : unansweredOutcome(settings, { mayBlock: [] });
    }
    return warn(
      `${name ?? 'min-replicas-to-write'} ${name === undefined ? 'is set' : value}, replicas that count: ${good ?? 0}`,
      {
        required: '0',
        detail:
          'The target counts as one of them, as soon as it follows: when it is cut off at the end, writes on the source may end with `NOREPLICAS Not enough good replicas to write`.',
        fix: configSetFix(
          name ?? 'min-replicas-to-write',
          '0',
          String(value),
          server,
          'Set it to 0 until the migration is over, or do not count on the target.',
        ),
      },
    );
  },
});
