import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import { type Answer, answerJson } from './answer.ts';
import type { Caller } from './gate.ts';
import { numberInPath } from './ids.ts';
import { listAnswer, readPage, sliceOf } from './paging.ts';
import { notFound } from './problems.ts';
import { actionJson } from './views.ts';

/** Newest first. */
export function listActions(request: Request, { world }: Service, caller: Caller): Answer {
  const page = readPage(request);
  if ('status' in page) return page;
  const slice = sliceOf(world.actions(caller.account), page, 'backwards');
  const now = world.now();
  const views = slice.items.map((action) => actionJson(action, now));
  return listAnswer(request, 'actions', page, slice, views);
}

export function showAction(request: Request, { world }: Service, caller: Caller): Answer {
  const action = world.action(numberInPath(request) ?? 0);
  if (action === undefined || action.account !== caller.account) return notFound();
  return answerJson(200, `{"action":${actionJson(action, world.now())}}`);
}
