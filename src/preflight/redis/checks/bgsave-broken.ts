import type { RedisInfo } from '../../../redis/info.ts';
import { type Fix, fail, pass, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck } from '../check.ts';
import { estimateCopy } from '../copy-estimate.ts';
import { disklessSyncOf } from '../diskless-sync.ts';
import { configSetFix } from '../fixes.ts';
import { dirConfigQuery, type RedisConfigValues, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const bgsaveBrokenCheck = redisCheck({
  id: 'bgsave-broken',
  title: 'the last BGSAVE succeeded',
  needs: 'entry',
  mayBlock: ['continuous'],
  queries: {
    server: infoQuery,
    settings: optionalQuery(replicationConfigQuery),
    folder: optionalQuery(dirConfigQuery),
  },
  evaluate({ server, settings, folder }, _ground, wish) {
    const status = server.get('rdb_last_bgsave_status') ?? 'no BGSAVE yet';
    const { setting: told, isDiskless } = disklessSyncOf(settings, server);
    const disk = diskTrouble(server, isDiskless, wish.sourceDiskFree);
    if (status !== 'err') {
      return disk === undefined
        ? pass(status)
        : warn(disk, {
            required: 'room for a copy of the data, or repl-diskless-sync yes',
            detail:
              'The copy for the target is written to a file first: `Write error saving DB on disk: No space left on device`.',
            fix: cure(told, server, 'Free space in the folder of the server, or copy without the disk.'),
          });
    }
    const directory = resultOr<RedisConfigValues, undefined>(folder, undefined)?.get('dir');
    const observed = `rdb_last_bgsave_status:err${directory === undefined ? '' : `, dir ${directory}`}`;
    const look = `Look at the log for the reason: a full disk, a folder that is gone or not writable${directory === undefined ? '' : ` (${directory})`}, or a fork that failed.`;
    if (isDiskless) {
      return warn(observed, {
        required: 'ok',
        detail: `repl-diskless-sync is ${told ?? 'yes by default'}, so the copy for the target needs no disk; if it was the fork that failed, that fails again.`,
        fix: { text: look },
      });
    }
    return fail(['continuous'], observed, {
      required: 'ok, or repl-diskless-sync yes',
      detail: `repl-diskless-sync is ${told ?? 'no by default'}: the source logs \`SYNC failed. BGSAVE child returned an error\`, and the target begins again, for ever.`,
      fix: cure(told, server, `${look} Or copy without the disk.`),
    });
  },
});

/** A dump takes at most about what the data takes in memory. */
function diskTrouble(server: RedisInfo, isDiskless: boolean, free: number | undefined): string | undefined {
  const bytes = estimateCopy(server)?.bytes;
  if (isDiskless || free === undefined || bytes === undefined || bytes <= free) return undefined;
  return `${formatBytes(free)} free on the disk for ${formatBytes(bytes)} of data`;
}

/** Without CONFIG nobody can change it there, and nobody knows what it was. */
function cure(told: string | undefined, server: RedisInfo, text: string): Fix {
  return told === undefined ? { text } : configSetFix('repl-diskless-sync', 'yes', told, server, text);
}
