import { formatBytes } from '../../../../base/text.ts';
import { infoNumber } from '../../../../redis/info.ts';
import { passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, redisAdministrator } from '../check.ts';
import { infoQuery, replicationQuery } from '../queries.ts';
import { formatWriteRate, freeMemory } from '../source.ts';

export const replBacklogCheck = declareRedisCheck({
  id: 'repl-backlog',
  title: 'the replication backlog holds the writes of one minute',
  headline: 'The replication backlog does not hold the writes of one minute',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery, settings: markOptional(replicationQuery) },
  evaluate({ info, settings }, facts) {
    const setting = valueOr(settings, undefined)?.get('repl-backlog-size');
    const size = setting === undefined ? infoNumber(info, 'repl_backlog_size') : Number(setting);
    if (size === undefined) return unknownOutcome('the server does not report the size of the backlog');
    const observed = `repl-backlog-size ${size} (${formatBytes(size)})`;
    const writes = facts.rate?.writes;
    const rate = formatWriteRate(facts);
    if (writes === undefined || writes === 0) return passOutcome(observed, { detail: `${rate}.` });
    const minute = writes * 60;
    const detail = `${rate}, which is ${formatBytes(minute)} per minute.`;
    if (size >= minute) return passOutcome(observed, { detail });
    const wanted = Math.max(256 * 2 ** 20, Math.ceil((minute * 3) / 2 ** 20) * 2 ** 20);
    // The replication backlog counts as used memory, so a backlog that does not fit makes a cache evict keys.
    const allocated = infoNumber(info, 'repl_backlog_histlen') ?? 0;
    const room = freeMemory(info) ?? 0;
    const fitting = Math.min(wanted, Math.floor((allocated + room) / 2 ** 20) * 2 ** 20);
    return warnOutcome(observed, {
      required: `at least ${formatBytes(minute)}`,
      detail: `${detail} A longer interruption of the connection restarts the copy: \`Unable to partial resync with replica for lack of backlog\`.`,
      fix:
        fitting >= minute
          ? configSetFix(
              'repl-backlog-size',
              String(fitting),
              String(size),
              info,
              'Raise repl-backlog-size for the time of the migration.',
            )
          : {
              by: redisAdministrator,
              text: `Migrate when fewer keys are written. A backlog of ${formatBytes(minute)} counts as used memory, and ${formatBytes(room)} are free for it: a larger repl-backlog-size would evict keys or refuse writes. If the machine has the memory, raise maxmemory by ${formatBytes(wanted)} first.`,
            },
    });
  },
});
