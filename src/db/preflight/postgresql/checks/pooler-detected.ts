import { failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import { evaluateLogin } from '../login.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const poolerDetectedCheck = declareServerCheck({
  id: 'pooler-detected',
  title: 'the connection is direct, without a connection pooler',
  headline: 'The connection goes through a connection pooler',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.14',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLogin(
      facts,
      'pooler-detected',
      () => {
        const { connection, address } = facts;
        if (connection.kind !== 'entered') return passOutcome('no pooler detected');
        if (connection.pooler !== undefined) return pooler(connection.pooler, facts);
        const { serverPort } = connection;
        return serverPort === undefined || serverPort === address.port
          ? passOutcome('direct connection')
          : passOutcome('direct connection', {
              detail: `The server listens on port ${serverPort}: a port forwarder or address translation is in use, which does not affect the migration.`,
            });
      },
      (why) => pooler(`${(why.kind === 'refused' ? why.pooler : undefined) ?? ''}: ${why.message}`, facts),
    );
  },
});

function pooler(seen: string, { connection, address }: PostgresqlFacts) {
  const behind =
    connection.kind === 'entered' && connection.serverPort !== undefined && connection.serverPort !== address.port;
  return failOutcome(postgresqlMethods, seen, {
    required: 'a direct connection',
    detail: `A connection pooler rejects replication connections (unsupported startup parameter: replication). Through a pooler in transaction mode pg_dump loses its settings and prepared statements between statements.${unpinnedLoginNote(connection)}`,
    fix: {
      text: `Use the address and port of the server${behind ? ` (behind the pooler it listens on ${connection.serverPort})` : ''}: for Supabase port 5432 of the direct host, for Neon the host without -pooler, for a managed cluster its own port instead of the pool's, for Amazon the instance instead of the proxy.`,
    },
  });
}

function unpinnedLoginNote(connection: PostgresqlFacts['connection']): string {
  if (connection.kind !== 'entered' || connection.startupRefusal === undefined) return '';
  return ` The settings of the login were not accepted (${connection.startupRefusal}): a login event trigger ran with the role and the search_path that are stored for its sessions. All statements of this report ran with pg_catalog alone.`;
}
