import { parseKeyspace } from '../../../redis/info.ts';
import { info as infoOutcome, pass, warn } from '../../finding.ts';
import { optionalQuery, queryValueOr } from '../../query.ts';
import { redisCheck } from '../check.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { infoQuery } from '../queries/info.ts';
import { functionCountQuery } from '../queries/server.ts';

export const functionsEtcCheck = redisCheck({
  id: 'functions-etc',
  title: 'there are no functions, streams, vector sets or expiring hash fields',
  headline: 'There are functions, streams, vector sets or expiring hash fields',
  needs: 'connection',
  severity: { continuous: 'info', scan: 'warning' },
  queries: { info: infoQuery, functions: optionalQuery(functionCountQuery) },
  evaluate({ info, functions }, { sample }, { method }) {
    if (functions.kind === 'denied' || functions.kind === 'failed') return outcomeWithoutResult(functions);
    const count = queryValueOr(functions, 0);
    const types = new Set(sample.kind === 'known' ? sample.value.keys.map(({ type }) => type) : []);
    const hashes = parseKeyspace(info).reduce((sum, { subexpiry }) => sum + subexpiry, 0);
    const found = [
      ...(count > 0 ? [`${count} functions`] : []),
      ...(types.has('stream') ? ['streams'] : []),
      ...(hashes > 0 ? [`${hashes} hashes with fields that expire`] : []),
      ...(types.has('vectorset') ? ['vector sets'] : []),
    ];
    if (found.length === 0) return pass('none');
    if (count > 0 && method === 'scan') {
      return warn(found.join(', '), {
        required: 'functions copied separately',
        detail: 'A scan copies keys, and functions are not keys.',
        dataLoss: `${count} functions`,
        fix: { text: 'Copy them with FUNCTION DUMP on the source and FUNCTION RESTORE on the target.' },
      });
    }
    return infoOutcome(found.join(', '), {
      detail:
        'Replication copies them to a target of the same or a later version. A scan does not copy functions (FUNCTION DUMP, FUNCTION RESTORE).',
    });
  },
});
