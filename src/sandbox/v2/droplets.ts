import { readJson } from '../http/json.ts';
import { mediaType } from '../http/media-type.ts';
import type { Request } from '../http/request.ts';
import type { Droplet } from '../records.ts';
import type { Service } from '../service.ts';
import { type Answer, answer, answerJson } from './answer.ts';
import { decodeCreation } from './creation.ts';
import type { Caller } from './gate.ts';
import { numberInPath } from './ids.ts';
import { listAnswer, readPage, sliceOf, sliceWhere } from './paging.ts';
import { notFound, problem, unprocessable } from './problems.ts';
import { dropletJson } from './views.ts';

/** Oldest first: a droplet created during a walk through the pages lands on the last one and moves no other. */
export function listDroplets(request: Request, { world }: Service, caller: Caller): Answer {
  const page = readPage(request);
  if ('status' in page) return page;
  const name = request.parameters().get('name');
  const tag = request.parameters().get('tag_name');
  const droplets = world.droplets(caller.account);
  const isWanted = (droplet: Droplet): boolean =>
    (name === undefined || droplet.name === name) && (tag === undefined || droplet.tags.includes(tag));
  const slice =
    name === undefined && tag === undefined
      ? sliceOf(droplets, page, 'forwards')
      : sliceWhere(droplets, page, isWanted);
  const now = world.now();
  const views = slice.items.map((droplet) => dropletJson(droplet, now));
  return listAnswer(request, 'droplets', page, slice, views);
}

export function showDroplet(request: Request, { world }: Service, caller: Caller): Answer {
  const droplet = ownDroplet(request, world, caller);
  return droplet === undefined ? notFound() : answerJson(200, `{"droplet":${dropletJson(droplet, world.now())}}`);
}

/** All the names of a request become droplets, or none does. */
export function createDroplets(request: Request, { world, settings }: Service, caller: Caller): Answer {
  if (mediaType(request.header('content-type')[0]) !== 'application/json') {
    return problem(415, 'The Content-Type of the request must be application/json.');
  }
  const body = readJson(request.body);
  if (body === undefined) return problem(400, 'The request body is not valid JSON.');
  const unequal = body.repeated.find((key) => !key.equal);
  if (unequal !== undefined) return unprocessable(`${unequal.name} is given more than once, with different values.`);
  const creation = decodeCreation(body.value);
  if (typeof creation === 'string') return unprocessable(creation);

  const { names, isSingle, blueprint } = creation;
  if (world.droplets(caller.account).length + names.length > settings.dropletLimit)
    return overLimit(settings.dropletLimit);
  const births = world.createDroplets(caller.account, names, blueprint);
  const now = world.now();
  const views = births.map(({ droplet }) => dropletJson(droplet, now));
  const actions = births.map(({ action }) => {
    return { id: action.id, rel: 'create', href: `http://${request.authority}/v2/actions/${action.id}` };
  });
  const droplets = isSingle ? `"droplet":${views[0]}` : `"droplets":[${views.join(',')}]`;
  return answerJson(202, `{${droplets},"links":${JSON.stringify({ actions })}}`);
}

export function deleteDroplet(request: Request, { world }: Service, caller: Caller): Answer {
  const droplet = ownDroplet(request, world, caller);
  if (droplet === undefined) return notFound();
  world.deleteDroplet(droplet);
  return answer(204, undefined);
}

/** Another account's droplet is not there at all. */
function ownDroplet(request: Request, world: Service['world'], caller: Caller): Droplet | undefined {
  const droplet = world.droplet(numberInPath(request) ?? 0);
  return droplet?.account === caller.account ? droplet : undefined;
}

function overLimit(limit: number): Answer {
  const message = `Creating this many droplets would exceed the droplet limit of the account, which is ${limit}.`;
  return { ...unprocessable(message), value: { id: 'droplet_limit', message } };
}
