import { readJson } from '../http/json.ts';
import { mediaType } from '../http/media-type.ts';
import type { Request } from '../http/request.ts';
import { startMigration as begin, isUnderWay, latestMigration, stopMigration } from '../migrations.ts';
import type { Cluster } from '../records.ts';
import type { Service } from '../service.ts';
import { type Answer, answer } from './answer.ts';
import { decodeMigration, requestedSource } from './migration-request.ts';
import { migrationView } from './migration-view.ts';
import { notFound, problem, unprocessable } from './problems.ts';
import { timestamp } from './views.ts';

/** Starts an online migration into a cluster (spec §4.5): accepted means running, not yet that anything was read. */
export function startMigration(request: Request, { world, planes }: Service): Answer {
  const cluster = clusterOf(request, world);
  if (cluster === undefined) return notFound();
  if (mediaType(request.header('content-type')[0]) !== 'application/json') {
    return problem(415, 'The Content-Type of the request must be application/json.');
  }
  const body = readJson(request.body);
  if (body === undefined) return problem(400, 'The request body is not valid JSON.');
  const source = decodeMigration(body.value, cluster.engine);
  if (typeof source === 'string') return unprocessable(source);
  if (isManaged(source.host)) {
    return unprocessable(
      'source.host is a managed cluster; migrating from one managed cluster to another is unsupported.',
    );
  }
  const plane = planes.of(cluster);
  const wanted = {
    id: world.newId(),
    cluster: cluster.uuid,
    source,
    startedAt: world.now(),
    ...(plane === undefined ? {} : { isReal: true }),
  };
  if (isUnderWay(world.migrations, cluster.uuid, wanted.startedAt))
    return problem(409, 'An online migration into this cluster is already running.');
  if (plane !== undefined) {
    const refusal = planes.start(wanted, plane, requestedSource(body.value, source), world);
    if (refusal !== undefined) return unprocessable(refusal);
  }
  begin(world.migrations, wanted);
  return answer(200, { id: wanted.id, status: 'running', created_at: timestamp(wanted.startedAt) });
}

export function showMigration(request: Request, service: Service): Answer {
  const { world } = service;
  const cluster = clusterOf(request, world);
  const migration = cluster === undefined ? undefined : latestMigration(world.migrations, cluster.uuid);
  if (cluster === undefined || migration === undefined) return notFound();
  return answer(200, migrationView(migration, cluster, service));
}

/** Stops the migration that runs, or the one that is named; what was migrated stays (spec §3). */
export function deleteMigration(request: Request, { world, planes }: Service): Answer {
  const cluster = clusterOf(request, world);
  const [, id] = request.captures;
  const migration = cluster === undefined ? undefined : latestMigration(world.migrations, cluster.uuid);
  if (migration === undefined || (id !== undefined && id !== migration.id)) return notFound();
  stopMigration(world.migrations, migration, world.now());
  planes.stop(migration);
  return answer(204, undefined);
}

function clusterOf(request: Request, world: Service['world']): Cluster | undefined {
  return world.directory.cluster((request.captures[0] ?? '').toLowerCase());
}

/** Names of managed clusters, in the host field or in a connection string there. */
function isManaged(host: string): boolean {
  return /(^|[/@.])[^/@]*\.db\.(ondigitalocean\.com|cloud-sandbox\.invalid)(:|$)/i.test(host);
}
