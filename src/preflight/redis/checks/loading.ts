import { fail, pass } from '../../finding.ts';
import { known, maybe } from '../ask.ts';
import { info } from '../asks/info.ts';
import { check, every } from '../check.ts';
import { unanswered } from '../findings.ts';

export const loading = check({
  id: 'loading',
  title: 'the server has loaded its data',
  needs: 'entry',
  mayBlock: every,
  asks: { server: maybe(info) },
  judge({ server }, { entry, probe }) {
    const facts = known(server, new Map<string, string>());
    const notice = entry.kind === 'entered' ? entry.notice : undefined;
    const isLoading =
      facts.get('loading') === '1' ||
      facts.get('async_loading') === '1' ||
      [notice, probe].some((one) => one !== undefined && 'code' in one && one.code === 'LOADING');
    if (isLoading) {
      const done = facts.get('loading_loaded_perc');
      const left = facts.get('loading_eta_seconds');
      return fail(
        every,
        `loading${done === undefined ? '' : `, ${done} % done`}${left === undefined ? '' : `, ${left} s left`}`,
        {
          required: 'loading:0',
          detail: `Until then it answers \`-LOADING\` to everything, and to PSYNC too.`,
          fix: { text: 'Wait until INFO persistence says loading:0, and run it again.' },
        },
      );
    }
    return server.kind === 'known' ? pass('loaded') : unanswered(server);
  },
});
