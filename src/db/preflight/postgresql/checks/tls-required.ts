import { passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, failedLoginOutcome } from '../login.ts';

export const tlsRequiredCheck = declareServerCheck({
  id: 'tls-required',
  title: 'the server accepts the requested TLS mode',
  headline: 'The server accepts only connections with TLS',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.3',
  needs: 'address',
  queries: {},
  evaluate(_values, facts, options) {
    return evaluateLogin(
      facts,
      'tls-required',
      () => passOutcome(options.disableSsl ? 'accepted without TLS' : 'accepted with TLS'),
      (why) =>
        failedLoginOutcome(why, {
          required: 'TLS',
          detail: 'pg_hba.conf allows this user only with TLS (hostssl), but disable_ssl was requested.',
          fix: {
            text: 'Remove --disable-ssl (or sslmode=disable): pg_hba.conf allows the same login with TLS.',
          },
        }),
    );
  },
});
