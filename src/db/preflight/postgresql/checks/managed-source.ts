import { type CheckOutcome, failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck, postgresqlMethods } from '../check.ts';
import { managedMarkersQuery } from '../queries/cluster.ts';

export const managedSourceCheck = declareServerCheck({
  id: 'managed-source',
  title: 'the source is not a managed database cluster',
  headline: 'The source is a managed database cluster',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.12',
  queries: { marks: managedMarkersQuery },
  evaluate({ marks: found }, { address, connection }): CheckOutcome {
    const seen = [...hostMarks(address.host), ...found];
    if (seen.length === 0) return passOutcome('no signs of a managed service');
    const own = seen.filter((mark) => services[mark] === ownService);
    const names = [...new Set(seen.flatMap((mark) => services[mark] ?? []))].join(', ');
    const superuser = connection.kind === 'entered' && connection.superuser;
    // A restored dump of a managed cluster contains the administrator role of the service; a real managed cluster never
    // grants superuser.
    if (own.length > 0 && !(superuser && own.every((mark) => mark === 'role:doadmin'))) return sameService(seen);
    if (!superuser) return otherService(names, seen);
    const left = {
      detail: 'Managed services do not grant superuser, so the signs probably come from a restored dump.',
      objects: seen,
    };
    const observed = `signs of ${names}, but the role is a superuser`;
    return own.length === 0 ? passOutcome(observed, left) : warnOutcome(observed, left);
  },
});

/** The provider of a managed cluster, by the domain in its host name: `host:.rds.amazonaws.com`. */
function hostMarks(host: string): readonly string[] {
  const name = host.toLowerCase().replace(/\.$/, '');
  return Object.keys(services).filter((mark) => mark.startsWith('host:') && name.endsWith(mark.slice('host:'.length)));
}

function otherService(names: string, seen: readonly string[]): CheckOutcome {
  return warnOutcome(`managed by ${names}`, {
    detail:
      'The managed service does not grant superuser, and settings are changed in its console instead of with ALTER SYSTEM. The other findings of this report show which migration methods remain possible.',
    objects: seen,
    fix: {
      text: 'Enable logical replication in the console of the service and use the role with the most privileges; otherwise migrate with a dump.',
    },
  });
}

function sameService(seen: readonly string[]): CheckOutcome {
  return failOutcome(postgresqlMethods, `a managed cluster of this service (${seen.join(', ')})`, {
    required: 'an external database',
    detail: 'The service does not support migrations between managed clusters, even between accounts.',
    objects: seen,
    fix: { text: 'Fork the cluster, restore a backup into the new cluster, or run pg_dump and pg_restore manually.' },
  });
}

const ownService = 'this service';

const services: Readonly<Record<string, string>> = {
  'role:doadmin': ownService,
  'role:_doadmin': ownService,
  'db:_dodb': ownService,
  'role:rdsadmin': 'Amazon RDS',
  'db:rdsadmin': 'Amazon RDS',
  'guc:rds.extensions': 'Amazon RDS',
  'role:cloudsqladmin': 'Google Cloud SQL',
  'db:cloudsqladmin': 'Google Cloud SQL',
  'guc:cloudsql.iam_authentication': 'Google Cloud SQL',
  'role:alloydbadmin': 'Google AlloyDB',
  'db:alloydbadmin': 'Google AlloyDB',
  'role:azuresu': 'Azure',
  'role:azure_pg_admin': 'Azure',
  'db:azure_maintenance': 'Azure',
  'db:azure_sys': 'Azure',
  'guc:azure.extensions': 'Azure',
  'role:avnadmin': 'Aiven',
  'db:_aiven': 'Aiven',
  'guc:aiven.pg_security_agent': 'Aiven',
  'role:supabase_admin': 'Supabase',
  'role:neon_superuser': 'Neon',
  'role:cloud_admin': 'Neon',
  'guc:neon.tenant_id': 'Neon',
  'host:.db.ondigitalocean.com': ownService,
  'host:.rds.amazonaws.com': 'Amazon RDS',
  'host:.postgres.database.azure.com': 'Azure',
  'host:.aivencloud.com': 'Aiven',
  'host:.supabase.co': 'Supabase',
  'host:.supabase.com': 'Supabase',
  'host:.neon.tech': 'Neon',
  'host:.tsdb.cloud.timescale.com': 'Timescale',
  'host:.rlwy.net': 'Railway',
  'host:.render.com': 'Render',
};
