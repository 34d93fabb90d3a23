import { formatBytes } from '../../../../base/text.ts';
import { failOutcome, infoOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import { infoQuery, maxmemoryQuery, readMaxmemory } from '../queries.ts';
import { estimateRedisCopy } from '../source.ts';

export const maxmemoryCheck = declareRedisCheck({
  id: 'maxmemory',
  title: 'the data fits into the memory of the target',
  headline: 'The data does not fit into the memory of the target',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: infoQuery, settings: markOptional(maxmemoryQuery) },
  evaluate({ info, settings }, _facts, { targetMemory }) {
    const copy = estimateRedisCopy(info);
    if (copy === undefined) return unknownOutcome('the server does not report its memory');
    const need = Math.ceil(copy.bytes * 1.1);
    const { limit, policy } = readMaxmemory(info, valueOr(settings, undefined));
    const evicts = policy !== 'noeviction' && limit > 0;
    const observed = `${formatBytes(copy.bytes)} of data, maxmemory ${limit === 0 ? 'unlimited' : formatBytes(limit)}, ${policy}`;
    const sum = `${formatBytes(copy.bytes)} + 10 % = ${formatBytes(need)} needed`;
    if (targetMemory !== undefined && need > targetMemory) {
      return failOutcome(redisMethods, observed, {
        required: `at most ${formatBytes(targetMemory)}, the memory of the target`,
        detail: `${sum}. A replica ignores its maxmemory: it is killed, or once it is promoted it evicts keys or refuses writes with \`OOM command not allowed\`.`,
        fix: { text: 'Use a larger plan for the target, or delete keys that are not needed.' },
      });
    }
    if (targetMemory === undefined && need > smallestTargetMemory) {
      return {
        ...unknownOutcome(observed, { text: 'Provide the memory of the target in bytes with --target-memory.' }),
        headline: 'The memory of the target is not known',
        premise: `the target has ${formatBytes(need)} of memory for data`,
        settledBy: '--target-memory',
        required: formatBytes(need),
        detail: `${sum}.${evicts ? ` ${noEvictionText}` : ''}`,
      };
    }
    const detail = targetMemory === undefined ? sum : `${sum}, the target has ${formatBytes(targetMemory)}`;
    if (evicts) {
      return warnOutcome(observed, {
        headline: 'The source evicts keys at maxmemory, and the target may not',
        required: `maxmemory-policy ${policy} on the target too`,
        detail: `${detail}. ${noEvictionText}`,
        fix: { text: `Set maxmemory-policy ${policy} on the target before the applications use it.` },
      });
    }
    return infoOutcome(observed, { headline: 'The memory that the target needs', detail: `${detail}.` });
  },
});

/** Bytes of memory that every target has for data. */
const smallestTargetMemory = 256e6;

const noEvictionText =
  "With noeviction the target refuses writes with `OOM command not allowed when used memory > 'maxmemory'` where the source would have evicted keys.";
