import { fail, pass, warn } from '../../finding.ts';
import { alterSystemFix } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { copyRates, estimateCopyTime } from '../copy-estimate.ts';
import { type ServerSettings, type SettingName, settingsQuery } from '../queries/settings.ts';
import { walHistoryQuery } from '../queries/wal.ts';
import { sizeSetting } from '../setting-values.ts';
import { binarySizeText, parseMilliseconds, sizeSettingText, timeSpanText } from '../units.ts';
import { walBytesPerSecond } from '../wal-bytes-per-second.ts';

const day = 86_400;

/** Seconds between two WAL records of the running transactions on a server with writes (LOG_SNAPSHOT_INTERVAL_MS). */
const snapshotInterval = 15;

/** Bytes of one WAL file; the server keeps or removes only whole WAL files. */
const segment = 16 * 1024 ** 2;

export const slotRetentionCheck = serverCheck({
  id: 'slot-retention',
  title: 'a replication slot keeps its WAL for as long as the copy takes',
  headline: 'A replication slot can be invalidated during the migration',
  severity: { continuous: 'blocker' },
  needs: 'connection',
  queries: { settings: settingsQuery, walHistory: walHistoryQuery },
  evaluate({ settings, walHistory }, facts, { sourceDiskFree = Number.POSITIVE_INFINITY }) {
    const idle = spanOf(settings, 'idle_replication_slot_timeout');
    const largest = facts.copy?.largest;
    if (idle > 0) {
      const observed = `idle_replication_slot_timeout ${timeSpanText(idle)}`;
      const more = {
        required: '0',
        detail: `A replication slot that is not used for ${timeSpanText(idle)} is invalidated: "can no longer access replication slot". The migration then starts again from the beginning.`,
        fix: alterSystemFix(settings, { idle_replication_slot_timeout: '0' }),
      };
      const span = ((largest?.bytes ?? 0) / copyRates.slow) * 1000;
      if (span <= idle) return warn(observed, more);
      return fail(['continuous'], observed, {
        ...more,
        detail: `During the initial copy each table has its own replication slot, which is idle while the rows are copied. ${largest?.table} of ${largest?.database} takes about ${timeSpanText(span)} at ${copyRates.slow / 1e6} MB/s. ${more.detail}`,
      });
    }
    const keep = settings.has('max_slot_wal_keep_size') ? sizeSetting(settings, 'max_slot_wal_keep_size') : -1;
    if (keep < 0) {
      return pass('unlimited', {
        detail:
          'No slot is invalidated, but while the target is stalled, for two weeks at most, WAL accumulates on the disk of the source (wal-rate).',
      });
    }
    const rate = walBytesPerSecond(facts.walRate, walHistory);
    const copy = facts.copy === undefined ? 0 : estimateCopyTime(facts.copy).high;
    const needed = Math.ceil(Math.max(3 * rate * copy, 2 * day * rate, sizeSetting(settings, 'max_wal_size')));
    if (keep >= needed) return pass(binarySizeText(keep), { required: `at least ${binarySizeText(needed)}` });
    const kept = Math.max(keep, settings.has('wal_keep_size') ? sizeSetting(settings, 'wal_keep_size') : 0);
    // A replication slot advances only at a WAL record of the running transactions, and the slot of a table only after
    // the copy of the table.
    const seconds = Math.max(snapshotInterval, (largest?.bytes ?? 0) / copyRates.fast);
    const behind = rate * seconds;
    const lost = behind >= kept + segment;
    const sum = lost
      ? `At ${binarySizeText(rate)} of WAL per second a replication slot is ${binarySizeText(behind)} behind after ${timeSpanText(seconds * 1000)}, and the next checkpoint removes all but ${binarySizeText(kept)}. `
      : '';
    const outcome = lost
      ? (observed: string, more: Parameters<typeof warn>[1]) => fail(['continuous'], observed, more)
      : warn;
    return outcome(`max_slot_wal_keep_size ${binarySizeText(keep)}`, {
      required: `at least ${binarySizeText(needed)}`,
      detail: `${sum}${binarySizeText(rate)} of WAL per second x ${timeSpanText(copy * 1000)} of copying x 3, at least two days of WAL and at least max_wal_size: ${binarySizeText(needed)}. A replication slot that is further behind is invalidated: "can no longer get changes from replication slot", and the migration starts again from the beginning.`,
      fix:
        needed > sourceDiskFree
          ? {
              text: `Enlarge the disk of pg_wal first: ${binarySizeText(needed)} of WAL do not fit into the free space.`,
            }
          : alterSystemFix(
              settings,
              { max_slot_wal_keep_size: sizeSettingText(needed) },
              'The disk of pg_wal needs free space for this amount of WAL.',
            ),
    });
  },
});

function spanOf(settings: ServerSettings, name: SettingName): number {
  const found = settings.get(name);
  return found === undefined ? 0 : (parseMilliseconds(found.value, found.unit) ?? 0);
}
