import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxCluster } from '../records.ts';
import type { ApiRequestHandler } from './api-caller.ts';
import { buildListReply, readListPageRequest, sliceListPage } from './paging.ts';

/** Lists the database clusters of the account in the order of their registration. */
export const handleGetDatabasesRequest: ApiRequestHandler = (request, service, { account }) => {
  const page = readListPageRequest(request);
  if ('status' in page) return page;
  const slice = sliceListPage(service.world.registry.clustersOf(account), page, 'forwards');
  const views = slice.items.map((cluster) => JSON.stringify(clusterView(cluster, service)));
  return buildListReply(request, 'databases', page, slice, views);
};

/** The members and the engine names are those that clients of the public service read. */
function clusterView({ uuid, name, engine, version }: SandboxCluster, { ready }: SandboxHandlerContext): object {
  const registered = ready.clusters.find((one) => one.uuid === uuid);
  return {
    id: uuid,
    name,
    engine: engine === 'postgresql' ? 'pg' : engine,
    version: registered?.version ?? version,
    status: 'online',
    connection: { port: registered?.connection.port },
  };
}
