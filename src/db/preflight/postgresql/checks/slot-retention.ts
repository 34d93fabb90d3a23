import { formatBytes, formatDuration } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { walVolumeQuery } from '../queries/replication.ts';
import { type ServerSettings, type SettingName, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, formatSize, parseDuration, sizeSetting } from '../settings.ts';
import { estimateCopyTime, estimateWalRate, workerCopyRate } from '../source-facts.ts';

const day = 86_400;

/**
 * Seconds after which a server with writes logs the list of running transactions again, as a WAL record
 * (LOG_SNAPSHOT_INTERVAL_MS).
 */
const snapshotInterval = 15;

/** Bytes of one WAL file; the server keeps or removes only whole WAL files. */
const segment = 16 * 1024 ** 2;

export const slotRetentionCheck = declareServerCheck({
  id: 'slot-retention',
  title: 'a replication slot keeps its WAL for as long as the copy takes',
  headline: 'A replication slot can be invalidated during the migration',
  severity: { continuous: 'blocker' },
  queries: { settings: settingsQuery, walHistory: walVolumeQuery },
  evaluate({ settings, walHistory }, facts, { sourceDiskFree = Number.POSITIVE_INFINITY }) {
    const idle = spanOf(settings, 'idle_replication_slot_timeout');
    const largest = facts.copy?.largest;
    if (idle > 0) {
      const observed = `idle_replication_slot_timeout ${formatDuration(idle)}`;
      const more = {
        required: '0',
        detail: `A replication slot that is not used for ${formatDuration(idle)} is invalidated: "can no longer access replication slot". The migration then starts again from the beginning.`,
        fix: alterSystemFix(settings, { idle_replication_slot_timeout: '0' }),
      };
      const span = ((largest?.bytes ?? 0) / workerCopyRate.slow) * 1000;
      if (span <= idle) return warnOutcome(observed, more);
      return failOutcome(['continuous'], observed, {
        ...more,
        detail: `During the initial copy each table has its own replication slot, which is idle while the rows are copied. ${largest?.table} of ${largest?.database} takes about ${formatDuration(span)} at ${workerCopyRate.slow / 1e6} MB/s. ${more.detail}`,
      });
    }
    const keep = settings.has('max_slot_wal_keep_size') ? sizeSetting(settings, 'max_slot_wal_keep_size') : -1;
    if (keep < 0) {
      return passOutcome('unlimited', {
        detail:
          'No slot is invalidated, but while the target is stalled, for two weeks at most, WAL accumulates on the disk of the source (wal-rate).',
      });
    }
    const rate = estimateWalRate(facts.walRate, walHistory);
    const copy = facts.copy === undefined ? 0 : estimateCopyTime(facts.copy).high;
    const needed = Math.ceil(Math.max(3 * rate * copy, 2 * day * rate, sizeSetting(settings, 'max_wal_size')));
    if (keep >= needed) return passOutcome(formatBytes(keep), { required: `at least ${formatBytes(needed)}` });
    const kept = Math.max(keep, settings.has('wal_keep_size') ? sizeSetting(settings, 'wal_keep_size') : 0);
    // The position of a replication slot advances only at WAL records that list the running transactions. The slot of a
    // table advances only after the table was copied.
    const seconds = Math.max(snapshotInterval, (largest?.bytes ?? 0) / workerCopyRate.fast);
    const behind = rate * seconds;
    const lost = behind >= kept + segment;
    const sum = lost
      ? `At ${formatBytes(rate)} of WAL per second a replication slot is ${formatBytes(behind)} behind after ${formatDuration(seconds * 1000)}, and the next checkpoint removes all but ${formatBytes(kept)}. `
      : '';
    const outcome = lost
      ? (observed: string, more: Parameters<typeof warnOutcome>[1]) => failOutcome(['continuous'], observed, more)
      : warnOutcome;
    return outcome(`max_slot_wal_keep_size ${formatBytes(keep)}`, {
      required: `at least ${formatBytes(needed)}`,
      detail: `${sum}${formatBytes(rate)} of WAL per second x ${formatDuration(copy * 1000)} of copying x 3, at least two days of WAL and at least max_wal_size: ${formatBytes(needed)}. A replication slot that is further behind is invalidated: "can no longer get changes from replication slot", and the migration starts again from the beginning.`,
      fix:
        needed > sourceDiskFree
          ? {
              text: `Enlarge the disk of pg_wal first: ${formatBytes(needed)} of WAL do not fit into the free space.`,
            }
          : alterSystemFix(
              settings,
              { max_slot_wal_keep_size: formatSize(needed) },
              'The disk of pg_wal needs free space for this amount of WAL.',
            ),
    });
  },
});

function spanOf(settings: ServerSettings, name: SettingName): number {
  const found = settings.get(name);
  return found === undefined ? 0 : (parseDuration(found.value, found.unit) ?? 0);
}
