import { formatBytes } from '../../../../base/text.ts';
import { infoOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { markOptional } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue } from '../check.ts';
import { bulkLengthQuery } from '../queries.ts';

/** The default of proto-max-bulk-len, in bytes. */
const defaultLimit = 512 * 2 ** 20;

export const bigKeysCheck = declareRedisCheck({
  id: 'big-keys',
  title: 'no key is too large for RESTORE',
  headline: 'Some keys may be too large for RESTORE',
  severity: { scan: 'warning' },
  queries: { settings: markOptional(bulkLengthQuery) },
  evaluate({ settings }, { sample }) {
    if (sample.kind !== 'known') return outcomeWithoutValue(sample, { mayBlock: [] });
    const { keys, isAll } = sample.value;
    const sized = keys.flatMap((key) => (key.bytes === undefined ? [] : [{ ...key, bytes: key.bytes }]));
    if (keys.length > 0 && sized.length === 0) {
      return skipOutcome('the server does not report the size of keys (MEMORY USAGE, 4.0 and later)');
    }
    const largest = sized.toSorted((a, b) => b.bytes - a.bytes);
    const [first] = largest;
    if (first === undefined) return passOutcome('no keys');
    const scope = isAll ? `all ${sized.length} keys` : `a sample of ${sized.length} keys`;
    const observed = `${scope}, the largest ${formatBytes(first.bytes)}`;
    const isRaised = settings.kind === 'known' && Number(settings.value.get('proto-max-bulk-len') ?? 0) > defaultLimit;
    const objects = largest
      .slice(0, 5)
      .filter(({ bytes }) => bytes > defaultLimit / 16)
      .map(({ database, name, bytes }) => `db${database} ${name} (${formatBytes(bytes)})`);
    if (first.bytes > defaultLimit / 2 || isRaised) {
      return warnOutcome(isRaised ? `${observed}; proto-max-bulk-len is raised on the source` : observed, {
        required: `less than ${formatBytes(defaultLimit)} for one RESTORE`,
        detail:
          'A scan sends each key in one command, which the target refuses: `Protocol error: invalid bulk length`. Replication is not affected.',
        objects,
        fix: { text: 'Raise proto-max-bulk-len on the target, or split these keys.' },
      });
    }
    return objects.length > 0
      ? infoOutcome(observed, { headline: 'Some keys are large', objects })
      : passOutcome(observed);
  },
});
