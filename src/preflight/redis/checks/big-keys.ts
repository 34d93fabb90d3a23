import { pass, skip, info as tell, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { bulkLengthConfigQuery } from '../queries/config.ts';
import { optionalQuery } from '../query.ts';

/** proto-max-bulk-len of a server that nobody changed. */
const defaultLimit = 512 * 2 ** 20;

export const bigKeysCheck = redisCheck({
  id: 'big-keys',
  title: 'no key is too big for RESTORE',
  needs: 'entry',
  mayBlock: [],
  queries: { bulk: optionalQuery(bulkLengthConfigQuery) },
  evaluate({ bulk }, { sample }) {
    if (sample.kind !== 'known') return unansweredOutcome(sample, { mayBlock: [] });
    const sized = sample.value.keys.flatMap((key) => (key.bytes === undefined ? [] : [{ ...key, bytes: key.bytes }]));
    if (sample.value.keys.length > 0 && sized.length === 0)
      return skip('the server does not tell the size of a key (MEMORY USAGE, 4.0 and later)');
    const seen = sample.value.isAll ? `all ${sized.length} keys` : `a sample of ${sized.length} keys`;
    const biggest = sized.toSorted((a, b) => b.bytes - a.bytes);
    const first = biggest[0];
    if (first === undefined) return pass('no keys');
    const observed = `${seen}, the biggest ${formatBytes(first.bytes)}`;
    const raised = bulk.kind === 'known' && Number(bulk.value.get('proto-max-bulk-len') ?? 0) > defaultLimit;
    const objects = biggest
      .slice(0, 5)
      .filter(({ bytes }) => bytes > defaultLimit / 16)
      .map(({ database, name, bytes }) => `db${database} ${name} (${formatBytes(bytes)})`);
    if (first.bytes > defaultLimit / 2 || raised) {
      return warn(raised ? `${observed}; proto-max-bulk-len was raised on the source` : observed, {
        required: `less than ${formatBytes(defaultLimit)} in one RESTORE`,
        detail: 'A scan sends a key in one piece: `Protocol error: invalid bulk length`. Replication is not concerned.',
        objects,
        fix: { text: 'Raise proto-max-bulk-len on the target, or split these keys.' },
      });
    }
    return objects.length > 0 ? tell(observed, { objects }) : pass(observed);
  },
});
