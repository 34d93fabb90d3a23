import { parseKeyspace } from '../../../../redis/info.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck } from '../check.ts';
import { outcomeWithoutValue } from '../commands.ts';
import { functionCountQuery, infoQuery } from '../queries.ts';

export const functionsStreamsEtcCheck = declareRedisCheck({
  id: 'functions-etc',
  title: 'there are no functions, streams, vector sets or expiring hash fields',
  headline: 'There are functions, streams, vector sets or expiring hash fields',
  needs: 'connection',
  severity: { continuous: 'info', scan: 'warning' },
  queries: { info: infoQuery, functions: markOptional(functionCountQuery) },
  evaluate({ info, functions }, { sample }, { method }) {
    if (functions.kind === 'denied' || functions.kind === 'failed') return outcomeWithoutValue(functions);
    const count = valueOr(functions, 0);
    const types = new Set(sample.kind === 'known' ? sample.value.keys.map(({ type }) => type) : []);
    const hashes = parseKeyspace(info).reduce((sum, { subexpiry }) => sum + subexpiry, 0);
    const found = [
      ...(count > 0 ? [`${count} functions`] : []),
      ...(types.has('stream') ? ['streams'] : []),
      ...(hashes > 0 ? [`${hashes} hashes with fields that expire`] : []),
      ...(types.has('vectorset') ? ['vector sets'] : []),
    ];
    if (found.length === 0) return passOutcome('none');
    if (count > 0 && method === 'scan') {
      return warnOutcome(found.join(', '), {
        required: 'functions copied separately',
        detail: 'A scan copies keys, and functions are not keys.',
        dataLoss: `${count} functions`,
        fix: { text: 'Copy the functions with FUNCTION DUMP on the source and FUNCTION RESTORE on the target.' },
      });
    }
    return infoOutcome(found.join(', '), {
      detail:
        'Replication copies functions, streams, vector sets and expiring hash fields to a target of the same or a later version. A scan does not copy functions (FUNCTION DUMP, FUNCTION RESTORE).',
    });
  },
});
