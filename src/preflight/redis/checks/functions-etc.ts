import { parseKeyspace } from '../../../redis/info.ts';
import { pass, info as tell, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { infoQuery } from '../queries/info.ts';
import { functionCountQuery } from '../queries/server.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const functionsEtcCheck = redisCheck({
  id: 'functions-etc',
  title: 'nothing but keys of old types',
  needs: 'entry',
  mayBlock: [],
  queries: { server: infoQuery, functions: optionalQuery(functionCountQuery) },
  evaluate({ server, functions }, { sample }, wish) {
    if (functions.kind === 'denied' || functions.kind === 'failed') return unansweredOutcome(functions);
    const count = resultOr(functions, 0);
    const types = new Set(sample.kind === 'known' ? sample.value.keys.map(({ type }) => type) : []);
    const fields = parseKeyspace(server).reduce((sum, { subexpiry }) => sum + subexpiry, 0);
    const seen = [
      ...(count > 0 ? [`${count} functions`] : []),
      ...(types.has('stream') ? ['streams'] : []),
      ...(fields > 0 ? [`${fields} hashes with fields that expire`] : []),
      ...(types.has('vectorset') ? ['vector sets'] : []),
    ];
    if (seen.length === 0) return pass('none');
    if (count > 0 && wish.method === 'scan') {
      return warn(seen.join(', '), {
        required: 'functions carried over by hand',
        detail: 'A scan takes keys, and functions are none.',
        dataLoss: `${count} functions`,
        fix: { text: 'FUNCTION DUMP on the source, FUNCTION RESTORE on the target.' },
      });
    }
    return tell(seen.join(', '), {
      detail:
        'Replication carries them to a target that is not older. A scan leaves functions behind (FUNCTION DUMP, FUNCTION RESTORE).',
    });
  },
});
