import { type CheckOutcome, fail } from '../../finding.ts';
import { evaluateConnect } from '../../network/evaluate-connect.ts';
import { serverCheck } from '../check.ts';
import { bothMethods, evaluateLoginStep, explainRefusal, failLogin } from '../login-steps.ts';

export const tcpConnectCheck = serverCheck({
  id: 'tcp-connect',
  title: 'the server accepts connections',
  headline: 'The server does not accept connections',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    const network = evaluateConnect(facts.address, bothMethods);
    if (network.status === 'fail' || network.status === 'skip') return network;
    return evaluateLoginStep(
      facts,
      'tcp-connect',
      () => (facts.lost === undefined ? network : unanswered(facts.lost)),
      (why) => failLogin(why, { required: 'a session', ...explainRefusal(why.code) }),
    );
  },
});

/** Nobody knows what the server would have said, and what is not known to be possible must not be called so. */
function unanswered(lost: string): CheckOutcome {
  return fail(bothMethods, `the connection ended while the server was asked: ${lost}`, {
    required: 'an answer',
    detail: 'Of its settings, its slots and the role nothing or little is known, so nobody can promise a migration.',
    fix: {
      text: 'Look into the log of the server and into what stands between (a proxy, a firewall that cuts or holds long answers), and run this again, with more time if that was short (--deadline 5m).',
    },
  });
}
