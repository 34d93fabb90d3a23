import { info, pass, skip, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { estimateCopyTime } from '../copy-estimate.ts';
import { walHistoryQuery } from '../queries/wal.ts';
import { binarySizeText, timeSpanText } from '../units.ts';
import { walBytesPerSecond } from '../wal-bytes-per-second.ts';

export const walRateCheck = serverCheck({
  id: 'wal-rate',
  title: 'the source disk can hold the WAL written during the copy',
  headline: 'The source disk can be too small for the WAL written during the copy',
  severity: { continuous: 'warning' },
  needs: 'connection',
  queries: { walHistory: walHistoryQuery },
  evaluate({ walHistory }, facts, options) {
    const { walRate, copy } = facts;
    if (walRate === undefined && walHistory === undefined) return skip('the WAL position could not be read twice');
    const rate = walBytesPerSecond(walRate, walHistory);
    const seconds = copy === undefined ? 0 : estimateCopyTime(copy).high;
    const bytes = rate * seconds;
    const observed = `${binarySizeText(rate)} of WAL a second`;
    const sum = `${binarySizeText(rate)} a second x ${timeSpanText(seconds * 1000)} of copying = ${binarySizeText(bytes)} kept until the copy is done`;
    const free = options.sourceDiskFree;
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

const negligible = 1024 ** 3;
