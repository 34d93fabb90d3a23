import type { HttpRequest } from '../http/http-request.ts';
import { parseJsonText } from '../http/json-text.ts';
import { parseMediaType } from '../http/media-type.ts';
import {
  addMigration as begin,
  isMigrationRunning,
  latestMigration,
  markMigrationStopped,
} from '../migration-store.ts';
import type { SandboxCluster } from '../records.ts';
import type { SandboxService } from '../service.ts';
import { apiErrorReply, notFoundReply, unprocessableReply } from './api-errors.ts';
import { type ApiReply, apiReply } from './api-reply.ts';
import { decodeMigrationRequest, readRequestedSource } from './migration-request.ts';
import { renderMigration } from './migration-view.ts';
import { formatTimestamp } from './resource-json.ts';

/** Starts an online migration into a cluster (spec §4.5): accepted means running, not yet that anything was read. */
export function putMigration(request: HttpRequest, { world, planes }: SandboxService): ApiReply {
  const cluster = clusterOf(request, world);
  if (cluster === undefined) return notFoundReply();
  if (parseMediaType(request.header('content-type')[0]) !== 'application/json') {
    return apiErrorReply(415, 'The Content-Type of the request must be application/json.');
  }
  const body = parseJsonText(request.body);
  if (body === undefined) return apiErrorReply(400, 'The request body is not valid JSON.');
  const source = decodeMigrationRequest(body.value, cluster.engine);
  if (typeof source === 'string') return unprocessableReply(source);
  if (isManaged(source.host)) {
    return unprocessableReply(
      'source.host is a managed cluster; migrating from one managed cluster to another is unsupported.',
    );
  }
  const plane = planes.planeOf(cluster);
  const wanted = {
    id: world.newId(),
    cluster: cluster.uuid,
    source,
    startedAt: world.now(),
    ...(plane === undefined ? {} : { isReal: true }),
  };
  if (isMigrationRunning(world.state.migrationStore, cluster.uuid, wanted.startedAt))
    return apiErrorReply(409, 'An online migration into this cluster is already running.');
  if (plane !== undefined) {
    const refusal = planes.start(wanted, plane, readRequestedSource(body.value, source), world);
    if (refusal !== undefined) return unprocessableReply(refusal);
  }
  begin(world.state.migrationStore, wanted);
  return apiReply(200, { id: wanted.id, status: 'running', created_at: formatTimestamp(wanted.startedAt) });
}

export function getMigration(request: HttpRequest, service: SandboxService): ApiReply {
  const { world } = service;
  const cluster = clusterOf(request, world);
  const migration = cluster === undefined ? undefined : latestMigration(world.state.migrationStore, cluster.uuid);
  if (cluster === undefined || migration === undefined) return notFoundReply();
  return apiReply(200, renderMigration(migration, cluster, service));
}

/** Stops the migration that runs, or the one that is named; what was migrated stays (spec §3). */
export function deleteMigration(request: HttpRequest, { world, planes }: SandboxService): ApiReply {
  const cluster = clusterOf(request, world);
  const [, id] = request.captures;
  const migration = cluster === undefined ? undefined : latestMigration(world.state.migrationStore, cluster.uuid);
  if (migration === undefined || (id !== undefined && id !== migration.id)) return notFoundReply();
  markMigrationStopped(world.state.migrationStore, migration, world.now());
  planes.stop(migration);
  return apiReply(204, undefined);
}

function clusterOf(request: HttpRequest, world: SandboxService['world']): SandboxCluster | undefined {
  return world.registry.cluster((request.captures[0] ?? '').toLowerCase());
}

/** Names of managed clusters, in the host field or in a connection string there. */
function isManaged(host: string): boolean {
  return /(^|[/@.])[^/@]*\.db\.(ondigitalocean\.com|cloud-sandbox\.invalid)(:|$)/i.test(host);
}
