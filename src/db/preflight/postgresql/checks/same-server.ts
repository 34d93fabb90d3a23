import { failOutcome, passOutcome, skipOutcome } from '../../finding.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import { firstInstanceQuery, type InstanceIdentity } from '../queries/cluster.ts';

export const sameServerPerConnectionCheck = declareServerCheck({
  id: 'same-server',
  title: 'every connection reaches the same server',
  headline: 'Connections reach different servers',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { first: firstInstanceQuery },
  evaluate({ first }, { replication, access, walRate }) {
    if (first === undefined) return skipOutcome('the role cannot read which server a connection reached');
    const connections = [replication, ...access.values()];
    const instances = connections.map((one) => (one?.kind === 'entered' ? one.instance : undefined));
    const others = [...instances, walRate?.instance].filter((one) => one !== undefined);
    const other = others.find((one) => !isSameServer(first, one));
    if (other === undefined) return passOutcome('the same server');
    // A dump may connect to the primary or to any of its standbys, because all of them have the same rows.
    const blocks = first.systemIdentifier === other.systemIdentifier ? continuousOnly : postgresqlMethods;
    return failOutcome(blocks, `${described(first)}; ${described(other)}`, {
      required: 'one server',
      detail:
        'A load balancer, a proxy or a DNS name with several addresses distributes connections. Each connection of a migration may reach another server: a publication or a replication slot that was created on one server does not exist on the other ("publication … does not exist", "replication slot … does not exist"), and rows may be from different points in time. This report may contain facts of several servers.',
      fix: { text: 'Use the address of the primary, or a port of the proxy that always connects to the primary.' },
    });
  },
});

const continuousOnly = ['continuous'] as const;

/**
 * A server that was restarted between the two queries is still the same server: its start time is later than the first
 * query.
 */
function isSameServer(first: InstanceIdentity, other: InstanceIdentity): boolean {
  const wasRestarted = other.started > first.readAt || first.started > other.readAt;
  return (
    first.systemIdentifier === other.systemIdentifier &&
    first.inRecovery === other.inRecovery &&
    (first.started === other.started || wasRestarted)
  );
}

function described({ systemIdentifier, inRecovery, started }: InstanceIdentity): string {
  const since = new Date(started * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return `system ${systemIdentifier}, ${inRecovery ? 'standby' : 'primary'}, started ${since} UTC`;
}
