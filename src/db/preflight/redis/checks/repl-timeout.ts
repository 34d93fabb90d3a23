import { formatBytes } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { configSetFix, declareRedisCheck } from '../check.ts';
import { infoQuery, replicationQuery } from '../queries.ts';
import { estimateRedisCopy } from '../source.ts';

export const replTimeoutCheck = declareRedisCheck({
  id: 'repl-timeout',
  title: 'the replication timeout outlasts the copy',
  headline: 'The replication timeout may end the copy',
  severity: { continuous: 'warning' },
  queries: { info: infoQuery, settings: replicationQuery },
  evaluate({ info, settings }) {
    const seconds = Number(settings.get('repl-timeout') ?? 60);
    const copy = estimateRedisCopy(info);
    if (copy === undefined) return unknownOutcome('the server does not report how much there is to copy');
    const observed = `repl-timeout ${seconds}`;
    const duration = `${formatBytes(copy.bytes)} to copy in ${Math.ceil(copy.shortest)} to ${Math.ceil(copy.longest)} s`;
    const ping = Number(settings.get('repl-ping-replica-period') ?? settings.get('repl-ping-slave-period') ?? 10);
    if (seconds > copy.longest && seconds > ping) return passOutcome(observed, { detail: `${duration}.` });
    const wanted = Math.min(3600, Math.max(300, Math.ceil((copy.longest * 2) / 60) * 60));
    return warnOutcome(observed, {
      required: `longer than the copy, such as ${wanted}`,
      detail:
        seconds <= ping
          ? `repl-ping-replica-period is ${ping}, so the target disconnects between two pings: \`MASTER timeout: no data nor PING received\`.`
          : `${duration}. After the timeout the target stops with \`Timeout receiving bulk data from MASTER\` and restarts the copy.`,
      fix: configSetFix(
        'repl-timeout',
        String(wanted),
        String(seconds),
        info,
        'Raise repl-timeout for the time of the migration.',
      ),
    });
  },
});
