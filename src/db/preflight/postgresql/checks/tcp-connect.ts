import { failOutcome, type PreflightCheckOutcome } from '../../finding.ts';
import { evaluateTcpConnections } from '../../network/evaluate.ts';
import { declareServerPreflightCheck, postgresqlMigrationMethods } from '../check.ts';
import {
  buildFailedPostgresqlLoginOutcome,
  evaluatePostgresqlLoginStep,
  explainRefusedPostgresqlLogin,
  explainUnansweredPostgresqlLogin,
} from '../login.ts';

export const tcpConnectCheck = declareServerPreflightCheck({
  id: 'tcp-connect',
  title: 'the server accepts connections',
  headline: 'The server does not accept connections',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.10',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    const network = evaluateTcpConnections(facts.address, postgresqlMigrationMethods);
    if (network.status === 'fail' || network.status === 'skip') return network;
    return evaluatePostgresqlLoginStep(
      facts,
      'tcp-connect',
      () => (facts.lost === undefined ? network : connectionLost(facts.lost)),
      (why) =>
        buildFailedPostgresqlLoginOutcome(why, {
          required: 'a session',
          ...(explainUnansweredPostgresqlLogin(why) ?? explainRefusedPostgresqlLogin(why.code)),
        }),
    );
  },
});

/** Queries without a result leave facts unknown, so the migration must not be reported as possible. */
function connectionLost(lost: string): PreflightCheckOutcome {
  return failOutcome(postgresqlMigrationMethods, `the connection was lost while queries ran: ${lost}`, {
    headline: 'The connection was lost during the queries',
    required: 'a response',
    detail:
      'The settings, replication slots and role could not be read completely, so it is not known whether a migration is possible.',
    fix: {
      text: 'Check the server log and any proxy or firewall in between, and run the preflight again, with more time if needed (--deadline 5m).',
    },
  });
}
