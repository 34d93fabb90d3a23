import { emptyInfo } from '../../../redis/info.ts';
import { fail, pass } from '../../finding.ts';
import { optionalQuery, queryValueOr } from '../../query.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { infoQuery } from '../queries/info.ts';

export const loadingCheck = redisCheck({
  id: 'loading',
  title: 'the server has loaded its data',
  headline: 'The server is still loading its data',
  needs: 'connection',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: optionalQuery(infoQuery) },
  evaluate({ info }, { connection, probe }) {
    const fields = queryValueOr(info, emptyInfo);
    const notice = connection.kind === 'connected' ? connection.notice : undefined;
    const isLoading =
      fields.get('loading') === '1' ||
      fields.get('async_loading') === '1' ||
      [notice, probe].some((reply) => reply !== undefined && 'code' in reply && reply.code === 'LOADING');
    if (!isLoading) return info.kind === 'known' ? pass('loaded') : outcomeWithoutResult(info);
    const done = fields.get('loading_loaded_perc');
    const left = fields.get('loading_eta_seconds');
    const observed = `loading${done === undefined ? '' : `, ${done} % done`}${left === undefined ? '' : `, ${left} s left`}`;
    return fail(redisMethods, observed, {
      required: 'loading:0',
      detail: 'Until then every command, also PSYNC, is answered with `-LOADING`.',
      fix: { text: 'Wait until INFO persistence shows loading:0, then run the preflight again.' },
    });
  },
});
