import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import {
  addSandboxMigrationUnlessOneRuns,
  findLatestSandboxMigrationOfCluster,
  markSandboxMigrationStopped,
} from '../migration-store.ts';
import type { SandboxCluster, SandboxMigration } from '../records.ts';
import type { ApiCaller, ApiRequestHandler } from './api-caller.ts';
import { apiErrorReply, notFoundReply, unprocessableReply } from './api-errors.ts';
import { apiReply } from './api-reply.ts';
import { readApiJsonRequest } from './json-request.ts';
import { buildSandboxMigrationJson, getCurrentSandboxMigrationState, isStatusUnderWay } from './migration-json.ts';
import { decodeSandboxMigrationRequest, readRequestedMigrationSource } from './migration-request.ts';
import { formatTimestampInWholeSeconds } from './resource-json.ts';

/**
 * Stops a migration, unless it has ended. One with a database server has ended when the engine has finished every
 * database, which the migrator records.
 */
export function stopSandboxMigration(
  migration: SandboxMigration,
  { world, planes }: Pick<SandboxHandlerContext, 'world' | 'planes'>,
): void {
  const live = planes.stateOf(migration);
  if (live === undefined) markSandboxMigrationStopped(world.state.migrationStore, migration, world.now());
  else planes.stop(migration);
}

/** Starts an online migration into a cluster (docs/service.md S9.1). A successful response does not mean that the source could be reached. */
export const handlePutMigrationRequest: ApiRequestHandler = (request, { world, planes }, caller) => {
  const cluster = clusterOf(request, world, caller);
  if (cluster === undefined) return notFoundReply();
  const body = readApiJsonRequest(request);
  if ('status' in body) return body;
  const source = decodeSandboxMigrationRequest(body.value, cluster.engine);
  if (typeof source === 'string') return unprocessableReply(source);
  const requested = readRequestedMigrationSource(body.value, source);
  if (containsManagedHost(requested.host)) {
    return unprocessableReply('source.host is a managed cluster; a managed cluster cannot be migrated to another one.');
  }
  const plane = planes.planeOf(cluster);
  const migration = {
    id: world.newId(),
    cluster: cluster.uuid,
    source,
    startedAt: world.now(),
    ...(plane === undefined ? {} : { isReal: true }),
  };
  const latest = findLatestSandboxMigrationOfCluster(world.state.migrationStore, cluster.uuid);
  if (latest !== undefined && isStatusUnderWay(getCurrentSandboxMigrationState(latest, { world, planes }).status))
    return apiErrorReply(409, 'An online migration into this cluster is already running.');
  if (plane !== undefined) {
    const refusal = planes.start(migration, plane, requested, world);
    if (refusal !== undefined) return unprocessableReply(refusal);
  }
  addSandboxMigrationUnlessOneRuns(world.state.migrationStore, migration);
  return apiReply(200, {
    id: migration.id,
    status: 'running',
    created_at: formatTimestampInWholeSeconds(migration.startedAt),
  });
};

export const handleGetMigrationRequest: ApiRequestHandler = (request, service, caller) => {
  const { world } = service;
  const cluster = clusterOf(request, world, caller);
  const migration =
    cluster === undefined ? undefined : findLatestSandboxMigrationOfCluster(world.state.migrationStore, cluster.uuid);
  if (cluster === undefined || migration === undefined) return notFoundReply();
  return apiReply(200, buildSandboxMigrationJson(migration, cluster, service));
};

/**
 * Stops the latest migration of the cluster; an id in the path must be the id of that migration. Data that was already copied
 * remains on the target (docs/service.md S9.7).
 */
export const handleDeleteMigrationRequest: ApiRequestHandler = (request, { world, planes }, caller) => {
  const cluster = clusterOf(request, world, caller);
  const [, id] = request.captures;
  const migration =
    cluster === undefined ? undefined : findLatestSandboxMigrationOfCluster(world.state.migrationStore, cluster.uuid);
  if (migration === undefined || (id !== undefined && id !== migration.id)) return notFoundReply();
  stopSandboxMigration(migration, { world, planes });
  return apiReply(204, undefined);
};

/**
 * Finds the cluster in the path if it belongs to the account of the caller (docs/service.md S7.4); the migrations of a cluster belong to
 * the account that owns the cluster.
 */
function clusterOf(
  request: SandboxHttpRequest,
  { registry }: SandboxHandlerContext['world'],
  { account }: ApiCaller,
): SandboxCluster | undefined {
  const named = (request.captures[0] ?? '').toLowerCase();
  return registry.clustersOf(account).find(({ uuid }) => uuid === named);
}

/** Whether the host field, which may be a connection string of any form, contains the name of a managed cluster. */
function containsManagedHost(host: string): boolean {
  return /\.db\.(ondigitalocean\.com|cloud-sandbox\.invalid)(?![\w.-])/i.test(host);
}
