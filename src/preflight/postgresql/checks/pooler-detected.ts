import { fail, pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { bothMethods, evaluateLoginStep } from '../login-steps.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';

export const poolerDetectedCheck = serverCheck({
  id: 'pooler-detected',
  title: 'the connection is direct, without a connection pooler',
  headline: 'The connection goes through a connection pooler',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLoginStep(
      facts,
      'pooler-detected',
      () => {
        const { connection, address } = facts;
        if (connection.kind !== 'entered') return pass('no pooler was met');
        if (connection.pooler !== undefined) return pooler(connection.pooler, facts);
        const { serverPort } = connection;
        return serverPort === undefined || serverPort === address.port
          ? pass('the process that was told answers')
          : pass('the process that was told answers', {
              detail: `The server itself listens on port ${serverPort}: a forwarder or address translation stands between, which does no harm.`,
            });
      },
      (why) => pooler(`${(why.kind === 'refused' ? why.pooler : undefined) ?? ''}: ${why.message}`, facts),
    );
  },
});

function pooler(seen: string, { connection, address }: PostgresqlSourceFacts) {
  const behind =
    connection.kind === 'entered' && connection.serverPort !== undefined && connection.serverPort !== address.port;
  return fail(bothMethods, seen, {
    required: 'a direct connection',
    detail:
      'A pooler stands between. It refuses the replication connection (unsupported startup parameter: replication), and in transaction mode pg_dump loses its settings and its prepared statements from one statement to the next.',
    fix: {
      text: `Use the server's own address and port${behind ? ` (behind the pooler it listens on ${connection.serverPort})` : ''}: Supabase port 5432 of the direct host, Neon the host without -pooler, a managed cluster its own port instead of that of the pool, Amazon the instance instead of the proxy.`,
    },
  });
}
