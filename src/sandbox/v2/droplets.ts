import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpRequest } from '../http/request.ts';
import type { SandboxDroplet } from '../records.ts';
import {
  type ApiCaller,
  type ApiRequestHandler,
  apiReply,
  apiReplyOfJsonText,
  notFoundReply,
  readApiJsonRequest,
  readIdFromRequestPath,
  type SandboxApiReply,
  unprocessableReply,
} from './api.ts';

import { decodeSandboxDropletCreationRequest } from './droplet-creation.ts';

import { buildListReply, readListPageRequest, sliceListPage, sliceMatchingListPage } from './paging.ts';

import { serializeDroplet } from './resource-json.ts';

/**
 * Droplets are listed oldest first, so that a droplet that is created while a client reads the pages appears on the last page
 * and moves no other droplet.
 */
export const handleGetDropletsRequest: ApiRequestHandler = (request, { world, settings }, caller) => {
  const page = readListPageRequest(request);
  if ('status' in page) return page;
  const name = request.parameters().get('name');
  const tag = request.parameters().get('tag_name');
  const droplets = withoutNewest(world.droplets.of(caller.account), world.now(), settings.listLagMs);
  const isWanted = (droplet: SandboxDroplet): boolean =>
    (name === undefined || droplet.name === name) && (tag === undefined || droplet.tags.includes(tag));
  const slice =
    name === undefined && tag === undefined
      ? sliceListPage(droplets, page, 'forwards')
      : sliceMatchingListPage(droplets, page, isWanted);
  const now = world.now();
  const views = slice.items.map((droplet) => serializeDroplet(droplet, now, world.seed.outsideSpecification?.droplet));
  return buildListReply(request, 'droplets', page, slice, views);
};

export const handleGetDropletRequest: ApiRequestHandler = (request, { world }, caller) => {
  const droplet = ownDroplet(request, world, caller);
  return droplet === undefined
    ? notFoundReply()
    : apiReplyOfJsonText(
        200,
        `{"droplet":${serializeDroplet(droplet, world.now(), world.seed.outsideSpecification?.droplet)}}`,
      );
};

/** Creates a droplet for every name in the request, or for none of them. */
export const handlePostDropletsRequest: ApiRequestHandler = (request, { world, settings }, caller) => {
  const body = readApiJsonRequest(request);
  if ('status' in body) return body;
  const unequal = body.repeated.find((key) => !key.equal);
  if (unequal !== undefined) return unprocessableReply(`${unequal.name} is repeated with different values.`);
  const creation = decodeSandboxDropletCreationRequest(body.value);
  if (typeof creation === 'string') return unprocessableReply(creation);

  const { names, isSingle, spec } = creation;
  if (world.droplets.of(caller.account).length + names.length > settings.dropletLimit)
    return dropletLimitReply(settings.dropletLimit);
  const created = world.droplets.create(caller.account, names, spec);
  const now = world.now();
  const views = created.map(({ droplet }) => serializeDroplet(droplet, now, world.seed.outsideSpecification?.droplet));
  const actions = created.map(({ action }) => {
    return { id: action.id, rel: 'create', href: `${request.linkOrigin}/v2/actions/${action.id}` };
  });
  const droplets = isSingle ? `"droplet":${views[0]}` : `"droplets":[${views.join(',')}]`;
  return apiReplyOfJsonText(202, `{${droplets},"links":${JSON.stringify({ actions })}}`);
};

export const handleDeleteDropletRequest: ApiRequestHandler = (request, { world }, caller) => {
  const droplet = ownDroplet(request, world, caller);
  if (droplet === undefined) return notFoundReply();
  world.droplets.delete(droplet);
  return apiReply(204, undefined);
};

/** Deletes all droplets of the account that have the tag. */
export const handleDeleteDropletsByTagRequest: ApiRequestHandler = (request, { world }, caller) => {
  const parameters = request.parameters();
  const tag = parameters.get('tag_name');
  if (tag === undefined || tag === '' || parameters.isRepeated('tag_name'))
    return unprocessableReply('tag_name must be one tag.');
  // The loop iterates over a copy, because deleting droplets changes the list.
  for (const droplet of [...world.droplets.of(caller.account)])
    if (droplet.tags.includes(tag)) world.droplets.delete(droplet);
  return apiReply(204, undefined);
};

/**
 * Returns the droplets in a list that is outdated by `lag` milliseconds, as in a replica of a database; the total is outdated
 * too.
 */
function withoutNewest(droplets: readonly SandboxDroplet[], now: number, lag: number): readonly SandboxDroplet[] {
  return lag === 0
    ? droplets
    : droplets.slice(0, droplets.findLastIndex(({ createdAt }) => createdAt <= now - lag) + 1);
}

/** Returns undefined for a droplet of another account. */
function ownDroplet(
  request: SandboxHttpRequest,
  world: SandboxHandlerContext['world'],
  caller: ApiCaller,
): SandboxDroplet | undefined {
  const droplet = world.droplets.get(readIdFromRequestPath(request) ?? 0);
  return droplet?.account === caller.account ? droplet : undefined;
}

function dropletLimitReply(limit: number): SandboxApiReply {
  const message = `Creating this many droplets would exceed the droplet limit of the account, which is ${limit}.`;
  return { ...unprocessableReply(message), value: { id: 'droplet_limit', message } };
}
