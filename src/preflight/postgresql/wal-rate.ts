import { info, pass, skip, warn } from '../finding.ts';
import { serverCheck } from './check.ts';
import { estimateCopyTime } from './copy-estimate.ts';
import { openTransactionsQuery } from './queries/open-transactions.ts';
import { type WalHistory, walHistoryQuery } from './queries/wal.ts';
import type { WalRate } from './source-facts.ts';
import { binarySizeText, countText, timeSpanText } from './units.ts';

export const walRateCheck = serverCheck({
  id: 'wal-rate',
  title: 'the disk of the source holds the WAL of the copy',
  needs: 'entry',
  queries: { walHistory: walHistoryQuery },
  evaluate({ walHistory }, ground, wish) {
    const { walRate, copy } = ground;
    if (walRate === undefined && walHistory === undefined) return skip('the WAL position could not be read twice');
    const rate = walBytesPerSecond(walRate, walHistory);
    const seconds = copy === undefined ? 0 : estimateCopyTime(copy).high;
    const bytes = rate * seconds;
    const observed = `${binarySizeText(rate)} of WAL a second`;
    const sum = `${binarySizeText(rate)} a second x ${timeSpanText(seconds * 1000)} of copying = ${binarySizeText(bytes)} kept until the copy is done`;
    const free = wish.sourceDiskFree;
    if (free === undefined) {
      const ask = `${sum}; two weeks of it would be ${binarySizeText(rate * 14 * 86_400)}. SQL cannot tell the free disk space: say it with --source-disk-free.`;
      return bytes < negligible ? pass(observed, { detail: `${sum}.` }) : info(observed, { detail: ask });
    }
    if (bytes <= free / 2)
      return pass(observed, { required: `half of ${binarySizeText(free)} free`, detail: `${sum}.` });
    return warn(observed, {
      required: `at most half of the free disk, ${binarySizeText(free / 2)}`,
      detail: `${sum}; ${binarySizeText(free)} are free. A full disk stops the source: "could not write to file pg_wal/…: No space left on device".`,
      fix: {
        by: 'who administers the server',
        text: 'Make room, migrate when less is written, or limit what a slot may keep with max_slot_wal_keep_size: then the migration is lost instead of the server.',
      },
    });
  },
});

export const dumpQuiescedCheck = serverCheck({
  id: 'dump-quiesced',
  title: 'nobody writes while a dump is taken',
  spec: '4.6',
  needs: 'entry',
  queries: { transactions: openTransactionsQuery },
  evaluate({ transactions }, ground, wish) {
    const written = ground.walRate?.bytes ?? 0;
    const seconds = Math.round(ground.walRate?.seconds ?? 0);
    if (written <= idleBytes && transactions.length === 0) {
      if (ground.walRate === undefined) return skip('the WAL position could not be read twice');
      return pass(`${binarySizeText(written)} of WAL in ${seconds} s`);
    }
    const observed = `${binarySizeText(written)} of WAL in ${seconds} s, ${countText(transactions.length, 'open transaction')}`;
    const detail =
      'A dump is a snapshot: what is written after it began is lost. The specification asks for the source to be offline or in maintenance.';
    if (wish.method !== 'dump') return info(observed, { detail });
    return warn(observed, {
      required: 'an idle source',
      detail,
      fix: {
        by: 'who runs the applications',
        text: 'Stop the applications before the dump, and run this again to see that nothing is written.',
      },
    });
  },
});

/** Bytes a second: the busier of what was just seen and the average since the counters were reset. */
export function walBytesPerSecond(sample: WalRate | undefined, history: WalHistory | undefined): number {
  const now = sample === undefined || sample.seconds <= 0 ? 0 : sample.bytes / sample.seconds;
  const average = history === undefined || history.seconds < 3600 ? 0 : history.bytes / history.seconds;
  return Math.max(now, average);
}

/** Less than this is what an idle server notes for itself between two readings. */
const idleBytes = 8192;

const negligible = 1024 ** 3;
