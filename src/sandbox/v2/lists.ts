import type { HttpRequest } from '../http/request.ts';
import { readyCluster } from '../ready-line.ts';
import type { Cluster } from '../records.ts';
import type { Service } from '../service.ts';
import { type ApiHandler, type ApiReply, apiJsonReply, apiReply, notFound, readPathId } from './api.ts';
import { listReply, readPageRequest, slicePage } from './paging.ts';
import { IMAGES_JSON, REGIONS_JSON, SIZES_JSON, serializeAction } from './resource-json.ts';

/**
 * Shows the person who owns the token and the team of its grant; docs/service.md does not list this endpoint, but clients of the public
 * service use GET /v2/account.
 */
export const getAccount: ApiHandler = (_request, { world, settings }, caller) => {
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
export const getActions: ApiHandler = (request, { world }, caller) => {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const slice = slicePage(world.droplets.actionsOf(caller.account), page, 'backwards');
  const now = world.now();
  const views = slice.items.map((action) => serializeAction(action, now));
  return listReply(request, 'actions', page, slice, views);
};

export const getAction: ApiHandler = (request, { world }, caller) => {
  const action = world.droplets.action(readPathId(request) ?? 0);
  if (action === undefined || action.account !== caller.account) return notFound();
  return apiJsonReply(200, `{"action":${serializeAction(action, world.now())}}`);
};

export function getRegions(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'regions', REGIONS_JSON);
}

export function getSizes(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'sizes', SIZES_JSON);
}

export function getImages(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'images', IMAGES_JSON);
}

function catalogueReply(request: HttpRequest, key: string, items: ReadonlyMap<unknown, string>): ApiReply {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const slice = slicePage([...items.values()], page, 'forwards');
  return listReply(request, key, page, slice, slice.items);
}

/** Lists the database clusters of the account in the order of their registration. */
export const getDatabases: ApiHandler = (request, service, { account }) => {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const slice = slicePage(service.world.registry.clustersOf(account), page, 'forwards');
  const views = slice.items.map((cluster) => JSON.stringify(clusterView(cluster, service)));
  return listReply(request, 'databases', page, slice, views);
};

/** The members and the engine names are those that clients of the public service read. */
function clusterView(cluster: Cluster, { planes }: Service): object {
  const plane = planes.planeOf(cluster);
  const { uuid, name, engine, version, connection } = readyCluster(cluster, plane);
  const product = plane?.isValkey === true ? 'valkey' : engine;
  return {
    id: uuid,
    name,
    engine: product === 'postgresql' ? 'pg' : product,
    version,
    status: 'online',
    connection,
  };
}
