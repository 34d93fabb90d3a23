import { infoNumber } from '../../../../redis/info.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, outcomeWithoutValue } from '../check.ts';
import { infoQuery, minReplicasQuery } from '../queries.ts';

export const minReplicasCheck = declareRedisCheck({
  id: 'min-replicas',
  title: 'writes do not depend on the number of replicas',
  headline: 'Writes depend on the number of replicas',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery, settings: markOptional(minReplicasQuery) },
  evaluate({ info, settings }) {
    // INFO has the field min_slaves_good_slaves only if a minimum number of replicas is set. This is true even if the
    // server hides CONFIG.
    const good = infoNumber(info, 'min_slaves_good_slaves');
    const values = valueOr(settings, undefined);
    const name = (['min-replicas-to-write', 'min-slaves-to-write'] as const).find((one) => values?.has(one) === true);
    const value = Number(name === undefined ? 0 : values?.get(name));
    if (value === 0 && good === undefined) {
      return settings.kind === 'known'
        ? passOutcome('min-replicas-to-write 0')
        : outcomeWithoutValue(settings, { mayBlock: [] });
    }
    const setting = name ?? 'min-replicas-to-write';
    return warnOutcome(
      `${setting} ${name === undefined ? 'is set' : value}, connected replicas that count: ${good ?? 0}`,
      {
        required: '0',
        detail:
          'The target counts as a replica while it follows the source. When it is disconnected at the end, the source may refuse writes with `NOREPLICAS Not enough good replicas to write`.',
        fix: configSetFix(
          setting,
          '0',
          String(value),
          info,
          'Set the minimum number of replicas to 0 until the migration has ended, or keep enough replicas besides the target.',
        ),
      },
    );
  },
});
