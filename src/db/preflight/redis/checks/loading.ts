import { emptyInfo } from '../../../../redis/info.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue, redisMethods } from '../check.ts';
import { infoQuery } from '../queries.ts';

export const loadingCheck = declareRedisCheck({
  id: 'loading',
  title: 'the server has loaded its data',
  headline: 'The server is still loading its data',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: markOptional(infoQuery) },
  evaluate({ info }, { connection, probe }) {
    const fields = valueOr(info, emptyInfo);
    const notice = connection.kind === 'connected' ? connection.notice : undefined;
    const isLoading =
      fields.get('loading') === '1' ||
      fields.get('async_loading') === '1' ||
      [notice, probe].some((reply) => reply !== undefined && 'code' in reply && reply.code === 'LOADING');
    if (!isLoading) return info.kind === 'known' ? passOutcome('loaded') : outcomeWithoutValue(info);
    const done = fields.get('loading_loaded_perc');
    const left = fields.get('loading_eta_seconds');
    const observed = `loading${done === undefined ? '' : `, ${done} % done`}${left === undefined ? '' : `, ${left} s left`}`;
    return failOutcome(redisMethods, observed, {
      required: 'loading:0',
      detail: 'Until the data is loaded, the server answers every command, also PSYNC, with `-LOADING`.',
      fix: { text: 'Wait until INFO persistence shows loading:0, then run the preflight again.' },
    });
  },
});
