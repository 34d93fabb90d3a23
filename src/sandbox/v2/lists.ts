import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpRequest } from '../http/request.ts';
import type { SandboxCluster } from '../records.ts';
import {
  type ApiRequestHandler,
  apiReply,
  apiReplyOfJsonText,
  notFoundReply,
  readIdFromRequestPath,
  type SandboxApiReply,
} from './api.ts';
import { buildListReply, readListPageRequest, sliceListPage } from './paging.ts';
import { SANDBOX_IMAGES_JSON, SANDBOX_REGIONS_JSON, SANDBOX_SIZES_JSON, serializeAction } from './resource-json.ts';

/**
 * Shows the person who owns the token and the team of its grant; docs/service.md does not list this endpoint, but clients of the public
 * service use GET /v2/account.
 */
export const handleGetAccountRequest: ApiRequestHandler = (_request, { world, settings }, caller) => {
  const pair = world.grants.pair(caller.accessToken);
  const person = world.registry.person(pair?.person ?? '');
  const team = pair?.team === undefined ? undefined : world.registry.team(pair.team);
  return apiReply(200, {
    account: {
      droplet_limit: Math.min(settings.dropletLimit, MAX_REPORTED_DROPLET_LIMIT),
      name: person?.name,
      email: person?.email,
      uuid: person?.uuid,
      email_verified: true,
      status: 'active',
      status_message: '',
      team: team === undefined ? null : { uuid: team.uuid, name: team.name },
    },
  });
};

/** Clients read a number, and JSON has none for "no limit". */
const MAX_REPORTED_DROPLET_LIMIT = 1_000_000;

/** Newest first. */
export const handleGetActionsRequest: ApiRequestHandler = (request, { world }, caller) => {
  const page = readListPageRequest(request);
  if ('status' in page) return page;
  const slice = sliceListPage(world.droplets.actionsOf(caller.account), page, 'backwards');
  const now = world.now();
  const views = slice.items.map((action) => serializeAction(action, now));
  return buildListReply(request, 'actions', page, slice, views);
};

export const handleGetActionRequest: ApiRequestHandler = (request, { world }, caller) => {
  const action = world.droplets.action(readIdFromRequestPath(request) ?? 0);
  if (action === undefined || action.account !== caller.account) return notFoundReply();
  return apiReplyOfJsonText(200, `{"action":${serializeAction(action, world.now())}}`);
};

export function handleGetRegionsRequest(request: SandboxHttpRequest): SandboxApiReply {
  return catalogueReply(request, 'regions', SANDBOX_REGIONS_JSON);
}

export function handleGetSizesRequest(request: SandboxHttpRequest): SandboxApiReply {
  return catalogueReply(request, 'sizes', SANDBOX_SIZES_JSON);
}

export function handleGetImagesRequest(request: SandboxHttpRequest): SandboxApiReply {
  return catalogueReply(request, 'images', SANDBOX_IMAGES_JSON);
}

function catalogueReply(
  request: SandboxHttpRequest,
  key: string,
  items: ReadonlyMap<unknown, string>,
): SandboxApiReply {
  const page = readListPageRequest(request);
  if ('status' in page) return page;
  const slice = sliceListPage([...items.values()], page, 'forwards');
  return buildListReply(request, key, page, slice, slice.items);
}

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
