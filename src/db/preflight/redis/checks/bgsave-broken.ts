import { formatBytes } from '../../../../base/text.ts';
import { infoNumber, type RedisInfo } from '../../../../redis/info.ts';
import { parseServerVersion } from '../../../../redis/version.ts';
import {
  type CheckOutcome,
  type FindingFix,
  failOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { markOptional, type QueryResult, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck } from '../check.ts';
import { type ConfigValues, dirQuery, infoQuery, replicationQuery, savePointsQuery } from '../queries.ts';
import { disklessReplication, estimateRedisCopy } from '../source.ts';

export const bgsaveBrokenCheck = declareRedisCheck({
  id: 'bgsave-broken',
  title: 'the source can write the copy for the target',
  headline: 'The last BGSAVE failed',
  severity: { continuous: 'blocker' },
  queries: {
    info: infoQuery,
    settings: markOptional(replicationQuery),
    folder: markOptional(dirQuery),
    savePoints: markOptional(savePointsQuery),
  },
  evaluate({ info, settings, folder, savePoints }, { probe }, { sourceDiskFree }) {
    const status = info.get('rdb_last_bgsave_status') ?? 'no BGSAVE yet';
    const { setting, isDiskless } = disklessReplication(settings, info);
    const shortage = diskShortage(info, isDiskless, sourceDiskFree);
    const copy = probe?.kind === 'accepted' ? probe.copy : undefined;
    if (copy?.kind === 'failed') {
      return copyFailed(copy.reason, isDiskless ? { text: logAdvice } : disklessFix(setting, info, diskAdvice));
    }
    if (copy?.kind === 'late')
      return {
        ...unknownOutcome(copy.reason, { text: 'Run the preflight again with --probe when the load is low.' }),
        settledBy: '--probe',
      };
    if (!isDiskless && copy === undefined && isFolderGone(info, folder)) {
      return folderGone(disklessFix(setting, info, diskAdvice));
    }
    if (status === 'err' && copy === undefined) {
      const directory = valueOr(folder, undefined)?.get('dir');
      const observed = `rdb_last_bgsave_status:err${directory === undefined ? '' : `, dir ${directory}`}`;
      const readLog = `Find the reason in the server log: a full disk, a data folder that is missing or not writable${directory === undefined ? '' : ` (${directory})`}, or a failed fork.`;
      if (isDiskless) {
        return notKnown(observed, {
          detail: `repl-diskless-sync is ${setting ?? 'yes by default'}, so the copy for the target needs no disk. If the fork failed, it fails again.`,
          fix: { text: `${readLog} ${tryAgain}` },
        });
      }
      if (!isRepeated(info, valueOr(savePoints, undefined)?.get('save'))) {
        return notKnown(`${observed}, not repeated by a save point`, {
          detail:
            'The copy for the target is written to a file first. Whether BGSAVE would succeed by now is not known.',
          fix: disklessFix(setting, info, `${readLog} ${tryAgain} Or copy without the disk.`),
        });
      }
      return failOutcome(['continuous'], observed, {
        required: 'ok, or repl-diskless-sync yes',
        detail: `repl-diskless-sync is ${setting ?? 'no by default'}: the source logs \`SYNC failed. BGSAVE child returned an error\`, and the target retries without end.`,
        fix: disklessFix(setting, info, `${readLog} Or copy without the disk.`),
      });
    }
    const isUntried = !isDiskless && copy === undefined && info.get('rdb_last_bgsave_time_sec') === '-1';
    if (isUntried && shortage === undefined) return notTried();
    return shortage === undefined
      ? passOutcome(copy === undefined ? status : 'a copy began')
      : warnOutcome(shortage, {
          headline: 'The disk of the source is too small for a copy of the data',
          required: 'disk space for a copy of the data, or repl-diskless-sync yes',
          detail:
            'The copy for the target is written to a file first: `Write error saving DB on disk: No space left on device`.',
          fix: disklessFix(setting, info, 'Free space in the data folder of the server, or copy without the disk.'),
        });
  },
});

const logAdvice =
  'Find the reason in the server log: a data folder that is missing or not writable, a full disk, or a failed fork (memory, limit of processes).';

const diskAdvice = `${logAdvice} Or copy without the disk.`;

/** The server accepted the PSYNC of the probe, but sent no copy. */
function copyFailed(reason: string, fix: FindingFix): CheckOutcome {
  return failOutcome(['continuous'], reason, {
    headline: 'The source cannot write the copy for the target',
    required: 'after PSYNC, the source begins to send its RDB copy',
    detail:
      'PSYNC was accepted, and the connection ended before the first byte of the copy. The connection of the target ends in the same way, and the target retries without end.',
    fix,
  });
}

/** An empty path means that the working directory of the server was removed. */
function folderGone(fix: FindingFix): CheckOutcome {
  return failOutcome(['continuous'], 'dir is empty', {
    headline: 'The data folder of the server does not exist',
    required: 'a data folder, or repl-diskless-sync yes',
    detail:
      'The copy for the target is written to a file first: `Failed opening the temp RDB file … No such file or directory`.',
    fix,
  });
}

/**
 * The path of the working directory is empty if the directory was removed; servers other than Redis and Valkey may
 * report none.
 */
function isFolderGone(info: RedisInfo, folder: QueryResult<ConfigValues<'dir'>>): boolean {
  const product = parseServerVersion(info)?.product;
  return (product === 'redis' || product === 'valkey') && valueOr(folder, undefined)?.get('dir') === '';
}

/**
 * Whether a save point repeats the BGSAVE, every 5 s: enough keys were changed, long enough since the last one that
 * succeeded. Without one the failure may be old.
 */
function isRepeated(info: RedisInfo, savePoints: string | undefined): boolean {
  const changes = infoNumber(info, 'rdb_changes_since_last_save') ?? 0;
  const now = (infoNumber(info, 'server_time_usec') ?? Number.POSITIVE_INFINITY) / 1e6;
  const elapsed = now - (infoNumber(info, 'rdb_last_save_time') ?? 0);
  return [...(savePoints ?? '').matchAll(/(\d+) (\d+)/g)].some(
    ([, seconds, count]) => changes >= Number(count) && elapsed > Number(seconds),
  );
}

const tryAgain =
  'Run with --probe, which requests a copy as the target will, or run BGSAVE on the source, and then the preflight again.';

/** No fact of the source proves that the server can fork and write the RDB file. */
function notTried(): CheckOutcome {
  return notKnown('no BGSAVE since the start of the server', {
    detail: 'The copy for the target is written to a file first (repl-diskless-sync no).',
    fix: { text: tryAgain },
  });
}

function notKnown(
  observed: string,
  { detail, fix }: { readonly detail: string; readonly fix: FindingFix },
): CheckOutcome {
  return {
    ...unknownOutcome(observed, fix),
    headline: 'It is not known whether the source can write the copy for the target',
    settledBy: '--probe',
    detail,
  };
}

/** An RDB file is at most about as large as the data in memory. */
function diskShortage(info: RedisInfo, isDiskless: boolean, free: number | undefined): string | undefined {
  const bytes = estimateRedisCopy(info)?.bytes;
  if (isDiskless || free === undefined || bytes === undefined || bytes <= free) return undefined;
  return `${formatBytes(free)} of disk space for ${formatBytes(bytes)} of data`;
}

/** If the server hides CONFIG, the setting cannot be changed with it, and the value to restore is not known. */
function disklessFix(setting: string | undefined, info: RedisInfo, text: string): FindingFix {
  return setting === undefined ? { text } : configSetFix('repl-diskless-sync', 'yes', setting, info, text);
}
