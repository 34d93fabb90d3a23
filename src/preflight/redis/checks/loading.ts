import { fail, pass } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const loadingCheck = redisCheck({
  id: 'loading',
  title: 'the server has loaded its data',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: { server: optionalQuery(infoQuery) },
  evaluate({ server }, { connection: entry, probe }) {
    const facts = resultOr(server, new Map<string, string>());
    const notice = entry.kind === 'entered' ? entry.notice : undefined;
    const isLoading =
      facts.get('loading') === '1' ||
      facts.get('async_loading') === '1' ||
      [notice, probe].some((one) => one !== undefined && 'code' in one && one.code === 'LOADING');
    if (isLoading) {
      const done = facts.get('loading_loaded_perc');
      const left = facts.get('loading_eta_seconds');
      return fail(
        redisMethods,
        `loading${done === undefined ? '' : `, ${done} % done`}${left === undefined ? '' : `, ${left} s left`}`,
        {
          required: 'loading:0',
          detail: `Until then it answers \`-LOADING\` to everything, and to PSYNC too.`,
          fix: { text: 'Wait until INFO persistence says loading:0, and run it again.' },
        },
      );
    }
    return server.kind === 'known' ? pass('loaded') : unansweredOutcome(server);
  },
});
