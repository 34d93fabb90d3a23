import type { HttpRequest } from '../http/http-request.ts';
import { parseJsonText } from '../http/json-text.ts';
import { parseMediaType } from '../http/media-type.ts';
import type { SandboxDroplet } from '../records.ts';
import type { SandboxService } from '../service.ts';
import type { ApiCaller } from './api-caller.ts';
import { apiErrorReply, notFoundReply, unprocessableReply } from './api-errors.ts';
import { type ApiReply, apiReply, apiReplyOfJson } from './api-reply.ts';
import { decodeDropletCreation } from './droplet-creation.ts';
import { readIdInPath } from './id-in-path.ts';
import { listReply, readPageRequest, sliceMatchingPage, slicePage } from './paging.ts';
import { serializeDroplet } from './resource-json.ts';

/** Oldest first: a droplet created during a walk through the pages lands on the last one and moves no other. */
export function getDroplets(request: HttpRequest, { world }: SandboxService, caller: ApiCaller): ApiReply {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const name = request.parameters().get('name');
  const tag = request.parameters().get('tag_name');
  const droplets = world.droplets(caller.account);
  const isWanted = (droplet: SandboxDroplet): boolean =>
    (name === undefined || droplet.name === name) && (tag === undefined || droplet.tags.includes(tag));
  const slice =
    name === undefined && tag === undefined
      ? slicePage(droplets, page, 'forwards')
      : sliceMatchingPage(droplets, page, isWanted);
  const now = world.now();
  const views = slice.items.map((droplet) => serializeDroplet(droplet, now));
  return listReply(request, 'droplets', page, slice, views);
}

export function getDroplet(request: HttpRequest, { world }: SandboxService, caller: ApiCaller): ApiReply {
  const droplet = ownDroplet(request, world, caller);
  return droplet === undefined
    ? notFoundReply()
    : apiReplyOfJson(200, `{"droplet":${serializeDroplet(droplet, world.now())}}`);
}

/** All the names of a request become droplets, or none does. */
export function postDroplets(request: HttpRequest, { world, settings }: SandboxService, caller: ApiCaller): ApiReply {
  if (parseMediaType(request.header('content-type')[0]) !== 'application/json') {
    return apiErrorReply(415, 'The Content-Type of the request must be application/json.');
  }
  const body = parseJsonText(request.body);
  if (body === undefined) return apiErrorReply(400, 'The request body is not valid JSON.');
  const unequal = body.repeated.find((key) => !key.equal);
  if (unequal !== undefined)
    return unprocessableReply(`${unequal.name} is given more than once, with different values.`);
  const creation = decodeDropletCreation(body.value);
  if (typeof creation === 'string') return unprocessableReply(creation);

  const { names, isSingle, blueprint } = creation;
  if (world.droplets(caller.account).length + names.length > settings.dropletLimit)
    return overLimit(settings.dropletLimit);
  const births = world.createDroplets(caller.account, names, blueprint);
  const now = world.now();
  const views = births.map(({ droplet }) => serializeDroplet(droplet, now));
  const actions = births.map(({ action }) => {
    return { id: action.id, rel: 'create', href: `http://${request.authority}/v2/actions/${action.id}` };
  });
  const droplets = isSingle ? `"droplet":${views[0]}` : `"droplets":[${views.join(',')}]`;
  return apiReplyOfJson(202, `{${droplets},"links":${JSON.stringify({ actions })}}`);
}

export function deleteDroplet(request: HttpRequest, { world }: SandboxService, caller: ApiCaller): ApiReply {
  const droplet = ownDroplet(request, world, caller);
  if (droplet === undefined) return notFoundReply();
  world.deleteDroplet(droplet);
  return apiReply(204, undefined);
}

/** Another account's droplet is not there at all. */
function ownDroplet(
  request: HttpRequest,
  world: SandboxService['world'],
  caller: ApiCaller,
): SandboxDroplet | undefined {
  const droplet = world.droplet(readIdInPath(request) ?? 0);
  return droplet?.account === caller.account ? droplet : undefined;
}

function overLimit(limit: number): ApiReply {
  const message = `Creating this many droplets would exceed the droplet limit of the account, which is ${limit}.`;
  return { ...unprocessableReply(message), value: { id: 'droplet_limit', message } };
}
