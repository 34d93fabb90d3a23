import { infoNumber } from '../../../redis/info.ts';
import { pass, warn } from '../../finding.ts';
import { optionalQuery, queryValueOr } from '../../query.ts';
import { redisCheck } from '../check.ts';
import { configSetFix } from '../fixes.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { minReplicasConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';

export const minReplicasCheck = redisCheck({
  id: 'min-replicas',
  title: 'writes do not depend on the number of replicas',
  headline: 'Writes depend on the number of replicas',
  needs: 'connection',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery, settings: optionalQuery(minReplicasConfigQuery) },
  evaluate({ info, settings }) {
    // INFO has the field min_slaves_good_slaves only if a minimum is set, even if CONFIG is hidden.
    const good = infoNumber(info, 'min_slaves_good_slaves');
    const values = queryValueOr(settings, undefined);
    const name = (['min-replicas-to-write', 'min-slaves-to-write'] as const).find((one) => values?.has(one) === true);
    const value = Number(name === undefined ? 0 : values?.get(name));
    if (value === 0 && good === undefined) {
      return settings.kind === 'known'
        ? pass('min-replicas-to-write 0')
        : outcomeWithoutResult(settings, { mayBlock: [] });
    }
    const setting = name ?? 'min-replicas-to-write';
    return warn(`${setting} ${name === undefined ? 'is set' : value}, connected replicas that count: ${good ?? 0}`, {
      required: '0',
      detail:
        'The target counts as a replica while it follows the source. When it is disconnected at the end, the source may refuse writes with `NOREPLICAS Not enough good replicas to write`.',
      fix: configSetFix(
        setting,
        '0',
        String(value),
        info,
        'Set it to 0 until the migration has ended, or keep enough replicas besides the target.',
      ),
    });
  },
});
