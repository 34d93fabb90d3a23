import { infoNumber } from '../../../redis/info.ts';
import { pass, info as tell, unknown, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck } from '../check.ts';
import { estimateCopy, writeRateText } from '../copy-estimate.ts';
import { configSetFix } from '../fixes.ts';
import { type RedisConfigValues, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const replBacklogCheck = redisCheck({
  id: 'repl-backlog',
  title: 'the backlog outlives a break of a minute',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, settings: optionalQuery(replicationConfigQuery) },
  evaluate({ server, settings }, ground) {
    const told = resultOr<RedisConfigValues, undefined>(settings, undefined)?.get('repl-backlog-size');
    const size = told === undefined ? infoNumber(server, 'repl_backlog_size') : Number(told);
    if (size === undefined) return unknown('the size of the backlog is not told');
    const observed = `repl-backlog-size ${size} (${formatBytes(size)})`;
    const writes = ground.rate?.writes;
    const minute = (writes ?? 0) * 60;
    const detail = `${writeRateText(ground, formatBytes)}; ${formatBytes(minute)} in a minute.`;
    if (writes === undefined || writes === 0)
      return pass(observed, { detail: `${writeRateText(ground, formatBytes)}.` });
    if (size >= minute) return pass(observed, { detail });
    const wanted = Math.max(256 * 2 ** 20, Math.ceil((minute * 3) / 2 ** 20) * 2 ** 20);
    return warn(observed, {
      required: `at least ${formatBytes(minute)}`,
      detail: `${detail} A longer break of the connection copies everything again: \`Unable to partial resync with replica for lack of backlog\`.`,
      fix: configSetFix(
        'repl-backlog-size',
        String(wanted),
        String(size),
        server,
        'Make the backlog larger while the migration runs.',
      ),
    });
  },
});

export const replTimeoutCheck = redisCheck({
  id: 'repl-timeout',
  title: 'nobody gives up during the copy',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, settings: replicationConfigQuery },
  evaluate({ server, settings }) {
    const seconds = Number(settings.get('repl-timeout') ?? 60);
    const load = estimateCopy(server);
    if (load === undefined) return unknown('the server does not tell how much there is to copy');
    const observed = `repl-timeout ${seconds}`;
    const copy = `${formatBytes(load.bytes)} to copy in ${Math.ceil(load.shortest)} to ${Math.ceil(load.longest)} s`;
    const ping = Number(settings.get('repl-ping-replica-period') ?? settings.get('repl-ping-slave-period') ?? 10);
    if (seconds > load.longest && seconds > ping) return pass(observed, { detail: `${copy}.` });
    const wanted = Math.min(3600, Math.max(300, Math.ceil((load.longest * 2) / 60) * 60));
    return warn(observed, {
      required: `more than the copy takes, such as ${wanted}`,
      detail:
        seconds <= ping
          ? `repl-ping-replica-period is ${ping}: the target gives up between two signs of life, \`MASTER timeout: no data nor PING received\`.`
          : `${copy}. The target gives up: \`Timeout receiving bulk data from MASTER\`, and begins again.`,
      fix: configSetFix(
        'repl-timeout',
        String(wanted),
        String(seconds),
        server,
        'Be more patient while the migration runs.',
      ),
    });
  },
});

export const disklessDelayCheck = redisCheck({
  id: 'diskless-delay',
  title: 'the copy begins at once',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, settings: replicationConfigQuery },
  evaluate({ server, settings }) {
    const isDiskless = settings.get('repl-diskless-sync') === 'yes';
    const delay = Number(settings.get('repl-diskless-sync-delay') ?? 0);
    const isSaving = server.get('rdb_bgsave_in_progress') === '1';
    const observed = isDiskless ? `repl-diskless-sync yes, repl-diskless-sync-delay ${delay}` : 'repl-diskless-sync no';
    if (isSaving) return tell(`${observed}; a BGSAVE is running`, { detail: 'The copy begins when it has ended.' });
    if (isDiskless && delay > 30)
      return tell(observed, { detail: `The copy begins ${delay} s after the target asked.` });
    return pass(observed);
  },
});
