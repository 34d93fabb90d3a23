import { countOf, formatBytes, formatDuration } from '../../../../base/text.ts';
import { infoOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { transactionsQuery } from '../queries/activity.ts';

export const dumpQuiescedCheck = declareServerCheck({
  id: 'dump-quiesced',
  title: 'no application writes data to the source',
  headline: 'Data is being written to the source',
  severity: { dump: 'warning' },
  spec: 'S9.14',
  queries: { transactions: transactionsQuery },
  evaluate({ transactions }, facts, options) {
    const written = facts.walRate?.bytes ?? 0;
    const span = formatDuration((facts.walRate?.seconds ?? 0) * 1000);
    if (written <= idleBytes && transactions.length === 0) {
      if (facts.walRate === undefined) return skipOutcome('the WAL position could not be read');
      return passOutcome(`${formatBytes(written)} of WAL in ${span}`, {
        detail: `${snapshotText} ${sampleText}`,
      });
    }
    const observed = `${formatBytes(written)} of WAL in ${span}, ${countOf(transactions.length, 'open transaction')}`;
    if (options.method !== 'dump') return infoOutcome(observed, { detail: snapshotText });
    return warnOutcome(observed, {
      required: 'no writes',
      detail: snapshotText,
      fix: {
        by: 'the application operator',
        text: 'Stop the applications before the dump, and run the preflight again to confirm that no data is written.',
      },
    });
  },
});

const snapshotText =
  'A dump is a snapshot: data written after its start is not migrated. The specification requires the source to be offline or in maintenance.';

const sampleText =
  'Few writes during this measurement do not prove that the applications are stopped: stop the applications before the dump.';

/** The number of WAL bytes that an idle server may write between two readings of the WAL position. */
const idleBytes = 8192;
