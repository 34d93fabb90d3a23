import { type CheckOutcome, fail, pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { bothMethods } from '../login-steps.ts';
import { managedServiceMarkersQuery } from '../queries/managed-service-markers.ts';

export const managedSourceCheck = serverCheck({
  id: 'managed-source',
  title: 'the source is not a managed database cluster',
  headline: 'The source is a managed database cluster',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: { marks: managedServiceMarkersQuery },
  evaluate({ marks: found }, { address, connection }): CheckOutcome {
    const seen = [...hostMarks(address.host), ...found];
    if (seen.length === 0) return pass('no marks of a managed service');
    const own = seen.filter((mark) => services[mark] === ownService);
    const names = [...new Set(seen.flatMap((mark) => services[mark] ?? []))].join(', ');
    const superuser = connection.kind === 'entered' && connection.superuser;
    // A dump of such a cluster carries its administrator along, and no such cluster gives anybody a superuser.
    if (own.length > 0 && !(superuser && own.every((mark) => mark === 'role:doadmin'))) return same(seen);
    if (!superuser) return elsewhere(names, seen);
    const left = {
      detail: 'No managed service gives a superuser, so the marks seem left by a restored dump.',
      objects: seen,
    };
    const observed = `marks of ${names}, and a real superuser`;
    return own.length === 0 ? pass(observed, left) : warn(observed, left);
  },
});

/** The address of a managed cluster tells whose it is: `host:.rds.amazonaws.com`. */
function hostMarks(host: string): readonly string[] {
  const name = host.toLowerCase().replace(/\.$/, '');
  return Object.keys(services).filter((mark) => mark.startsWith('host:') && name.endsWith(mark.slice('host:'.length)));
}

function elsewhere(names: string, seen: readonly string[]): CheckOutcome {
  return warn(`managed by ${names}`, {
    detail:
      'There is no superuser to be had here, and settings are changed in the console of the service instead of with ALTER SYSTEM; the other findings say what that leaves open.',
    objects: seen,
    fix: {
      text: 'Turn logical replication on in the console of the service, and take the role with the widest rights it gives; otherwise migrate with a dump.',
    },
  });
}

function same(seen: readonly string[]): CheckOutcome {
  return fail(bothMethods, `a managed cluster of this service (${seen.join(', ')})`, {
    required: 'an external database',
    detail: 'Migrating from one managed cluster to another, also of another account, is not supported by the service.',
    objects: seen,
    fix: { text: 'Fork the cluster or restore a backup of it into the new one; or pg_dump and pg_restore by hand.' },
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
