import { infoNumber } from '../../../redis/info.ts';
import { fail, info as tell, unknown, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { estimateCopy } from '../copy-estimate.ts';
import { maxmemoryConfigQuery, type RedisConfigValues } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const maxmemoryCheck = redisCheck({
  id: 'maxmemory',
  title: 'the data fits the target',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: { server: infoQuery, settings: optionalQuery(maxmemoryConfigQuery) },
  evaluate({ server, settings }, _ground, wish) {
    const load = estimateCopy(server);
    if (load === undefined) return unknown('the server does not tell its memory');
    const need = Math.ceil(load.bytes * 1.1);
    const config = resultOr<RedisConfigValues, undefined>(settings, undefined);
    const limit = infoNumber(server, 'maxmemory') ?? Number(config?.get('maxmemory') ?? 0);
    const policy = server.get('maxmemory_policy') ?? config?.get('maxmemory-policy') ?? 'noeviction';
    const observed = `${formatBytes(load.bytes)} of data, maxmemory ${limit === 0 ? 'unlimited' : formatBytes(limit)}, ${policy}`;
    const detail = `${formatBytes(load.bytes)} + 10 % = ${formatBytes(need)} needed`;
    if (wish.targetMemory !== undefined && need > wish.targetMemory) {
      return fail(redisMethods, observed, {
        required: `at most ${formatBytes(wish.targetMemory)}, the memory of the target`,
        detail: `${detail}. A replica ignores its own maxmemory and is killed, or evicts and answers \`OOM command not allowed\` once it is promoted.`,
        fix: { text: 'Take a larger plan, or delete what is not needed.' },
      });
    }
    const room =
      wish.targetMemory === undefined ? detail : `${detail}, the target has ${formatBytes(wish.targetMemory)}`;
    if (policy !== 'noeviction' && limit > 0) {
      return warn(observed, {
        required: `maxmemory-policy ${policy} on the target too`,
        detail: `${room}. With noeviction, writes end with \`OOM command not allowed when used memory > 'maxmemory'\` where the source would have evicted.`,
        fix: { text: `Set maxmemory-policy ${policy} on the target before the applications move.` },
      });
    }
    return tell(observed, { detail: `${room}.` });
  },
});
