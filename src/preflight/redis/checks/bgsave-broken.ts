import type { RedisInfo } from '../../../redis/info.ts';
import { type Fix, fail, pass, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { optionalQuery, resultOr } from '../../query.ts';
import { redisCheck } from '../check.ts';
import { estimateCopy } from '../copy-estimate.ts';
import { disklessSyncOf } from '../diskless-sync.ts';
import { configSetFix } from '../fixes.ts';
import { dirConfigQuery, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';

export const bgsaveBrokenCheck = redisCheck({
  id: 'bgsave-broken',
  title: 'the last BGSAVE succeeded',
  headline: 'The last BGSAVE failed',
  needs: 'connection',
  severity: { continuous: 'blocker' },
  queries: {
    info: infoQuery,
    settings: optionalQuery(replicationConfigQuery),
    folder: optionalQuery(dirConfigQuery),
  },
  evaluate({ info, settings, folder }, _facts, { sourceDiskFree }) {
    const status = info.get('rdb_last_bgsave_status') ?? 'no BGSAVE yet';
    const { setting, isDiskless } = disklessSyncOf(settings, info);
    const shortage = diskShortage(info, isDiskless, sourceDiskFree);
    if (status !== 'err') {
      return shortage === undefined
        ? pass(status)
        : warn(shortage, {
            headline: 'The disk of the source is too small for a copy of the data',
            required: 'disk space for a copy of the data, or repl-diskless-sync yes',
            detail:
              'The copy for the target is written to a file first: `Write error saving DB on disk: No space left on device`.',
            fix: disklessFix(setting, info, 'Free space in the data folder of the server, or copy without the disk.'),
          });
    }
    const directory = resultOr(folder, undefined)?.get('dir');
    const observed = `rdb_last_bgsave_status:err${directory === undefined ? '' : `, dir ${directory}`}`;
    const readLog = `Find the reason in the server log: a full disk, a data folder that is missing or not writable${directory === undefined ? '' : ` (${directory})`}, or a failed fork.`;
    if (isDiskless) {
      return warn(observed, {
        required: 'ok',
        detail: `repl-diskless-sync is ${setting ?? 'yes by default'}, so the copy for the target needs no disk. If the fork failed, it fails again.`,
        fix: { text: readLog },
      });
    }
    return fail(['continuous'], observed, {
      required: 'ok, or repl-diskless-sync yes',
      detail: `repl-diskless-sync is ${setting ?? 'no by default'}: the source logs \`SYNC failed. BGSAVE child returned an error\`, and the target retries without end.`,
      fix: disklessFix(setting, info, `${readLog} Or copy without the disk.`),
    });
  },
});

/** The dump file takes at most about as much as the data in memory. */
function diskShortage(info: RedisInfo, isDiskless: boolean, free: number | undefined): string | undefined {
  const bytes = estimateCopy(info)?.bytes;
  if (isDiskless || free === undefined || bytes === undefined || bytes <= free) return undefined;
  return `${formatBytes(free)} of disk space for ${formatBytes(bytes)} of data`;
}

/** When CONFIG is hidden it cannot be changed with it, and the value to restore is not known. */
function disklessFix(setting: string | undefined, info: RedisInfo, text: string): Fix {
  return setting === undefined ? { text } : configSetFix('repl-diskless-sync', 'yes', setting, info, text);
}
