import { type CheckOutcome, failOutcome } from '../../finding.ts';
import { evaluateConnections } from '../../network/evaluate.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import { evaluateLogin, explainRefusedLogin, explainUnansweredLogin, failedLoginOutcome } from '../login.ts';

export const tcpConnectCheck = declareServerCheck({
  id: 'tcp-connect',
  title: 'the server accepts connections',
  headline: 'The server does not accept connections',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.10',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    const network = evaluateConnections(facts.address, postgresqlMethods);
    if (network.status === 'fail' || network.status === 'skip') return network;
    return evaluateLogin(
      facts,
      'tcp-connect',
      () => (facts.lost === undefined ? network : connectionLost(facts.lost)),
      (why) =>
        failedLoginOutcome(why, {
          required: 'a session',
          ...(explainUnansweredLogin(why) ?? explainRefusedLogin(why.code)),
        }),
    );
  },
});

/** Queries without a result leave facts unknown, so the migration must not be reported as possible. */
function connectionLost(lost: string): CheckOutcome {
  return failOutcome(postgresqlMethods, `the connection was lost while queries ran: ${lost}`, {
    headline: 'The connection was lost during the queries',
    required: 'a response',
    detail:
      'The settings, replication slots and role could not be read completely, so it is not known whether a migration is possible.',
    fix: {
      text: 'Check the server log and any proxy or firewall in between, and run the preflight again, with more time if needed (--deadline 5m).',
    },
  });
}
