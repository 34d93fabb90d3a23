import { pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failLogin } from '../login-steps.ts';

export const tlsRequiredCheck = serverCheck({
  id: 'tls-required',
  title: 'the server accepts the requested TLS mode',
  headline: 'The server accepts only connections with TLS',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '2',
  needs: 'address',
  queries: {},
  evaluate(_values, facts, options) {
    return evaluateLoginStep(
      facts,
      'tls-required',
      () => pass(options.disableSsl ? 'it takes connections without TLS' : 'TLS is used'),
      (why) =>
        failLogin(why, {
          required: 'TLS',
          detail: 'The host rules let this user in with TLS only (hostssl), and disable_ssl is asked for.',
          fix: {
            text: 'Leave --disable-ssl (or sslmode=disable) out: the same login with TLS gets past the host rules.',
          },
        }),
    );
  },
});
