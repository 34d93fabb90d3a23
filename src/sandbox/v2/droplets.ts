import type { HttpRequest } from '../http/request.ts';
import type { Droplet } from '../records.ts';
import type { Service } from '../service.ts';
import {
  type ApiCaller,
  type ApiHandler,
  type ApiReply,
  apiJsonReply,
  apiReply,
  notFound,
  readApiJson,
  readPathId,
  unprocessable,
} from './api.ts';
import { decodeCreation } from './droplet-creation.ts';

import { listReply, readPageRequest, sliceMatching, slicePage } from './paging.ts';
import { serializeDroplet } from './resource-json.ts';

/**
 * Droplets are listed oldest first, so that a droplet that is created while a client reads the pages appears on the last page
 * and moves no other droplet.
 */
export const getDroplets: ApiHandler = (request, { world, settings }, caller) => {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const name = request.parameters().get('name');
  const tag = request.parameters().get('tag_name');
  const droplets = withoutNewest(world.droplets.of(caller.account), world.now(), settings.listLagMs);
  const isWanted = (droplet: Droplet): boolean =>
    (name === undefined || droplet.name === name) && (tag === undefined || droplet.tags.includes(tag));
  const slice =
    name === undefined && tag === undefined
      ? slicePage(droplets, page, 'forwards')
      : sliceMatching(droplets, page, isWanted);
  const now = world.now();
  const views = slice.items.map((droplet) => serializeDroplet(droplet, now, world.seed.outsideSpecification?.droplet));
  return listReply(request, 'droplets', page, slice, views);
};

export const getDroplet: ApiHandler = (request, { world }, caller) => {
  const droplet = ownDroplet(request, world, caller);
  return droplet === undefined
    ? notFound()
    : apiJsonReply(
        200,
        `{"droplet":${serializeDroplet(droplet, world.now(), world.seed.outsideSpecification?.droplet)}}`,
      );
};

/** Creates a droplet for every name in the request, or for none of them. */
export const postDroplets: ApiHandler = (request, { world, settings }, caller) => {
  const body = readApiJson(request);
  if ('status' in body) return body;
  const unequal = body.repeated.find((key) => !key.equal);
  if (unequal !== undefined) return unprocessable(`${unequal.name} is repeated with different values.`);
  const creation = decodeCreation(body.value);
  if (typeof creation === 'string') return unprocessable(creation);

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
  return apiJsonReply(202, `{${droplets},"links":${JSON.stringify({ actions })}}`);
};

export const deleteDroplet: ApiHandler = (request, { world }, caller) => {
  const droplet = ownDroplet(request, world, caller);
  if (droplet === undefined) return notFound();
  world.droplets.delete(droplet);
  return apiReply(204, undefined);
};

/** Deletes all droplets of the account that have the tag. */
export const deleteTaggedDroplets: ApiHandler = (request, { world }, caller) => {
  const parameters = request.parameters();
  const tag = parameters.get('tag_name');
  if (tag === undefined || tag === '' || parameters.isRepeated('tag_name'))
    return unprocessable('tag_name must be one tag.');
  // The loop iterates over a copy, because deleting droplets changes the list.
  for (const droplet of [...world.droplets.of(caller.account)])
    if (droplet.tags.includes(tag)) world.droplets.delete(droplet);
  return apiReply(204, undefined);
};

/**
 * Returns the droplets in a list that is outdated by `lag` milliseconds, as in a replica of a database; the total is outdated
 * too.
 */
function withoutNewest(droplets: readonly Droplet[], now: number, lag: number): readonly Droplet[] {
  return lag === 0
    ? droplets
    : droplets.slice(0, droplets.findLastIndex(({ createdAt }) => createdAt <= now - lag) + 1);
}

/** Returns undefined for a droplet of another account. */
function ownDroplet(request: HttpRequest, world: Service['world'], caller: ApiCaller): Droplet | undefined {
  const droplet = world.droplets.get(readPathId(request) ?? 0);
  return droplet?.account === caller.account ? droplet : undefined;
}

function dropletLimitReply(limit: number): ApiReply {
  const message = `Creating this many droplets would exceed the droplet limit of the account, which is ${limit}.`;
  return { ...unprocessable(message), value: { id: 'droplet_limit', message } };
}
