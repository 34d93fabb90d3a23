import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import type { ApiCaller } from './api-caller.ts';
import { notFoundReply } from './api-errors.ts';
import { type ApiReply, apiReplyOfJson } from './api-reply.ts';
import { readIdInPath } from './id-in-path.ts';
import { listReply, readPageRequest, slicePage } from './paging.ts';
import { serializeAction } from './resource-json.ts';

/** Newest first. */
export function getActions(request: HttpRequest, { world }: SandboxService, caller: ApiCaller): ApiReply {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const slice = slicePage(world.actions(caller.account), page, 'backwards');
  const now = world.now();
  const views = slice.items.map((action) => serializeAction(action, now));
  return listReply(request, 'actions', page, slice, views);
}

export function getAction(request: HttpRequest, { world }: SandboxService, caller: ApiCaller): ApiReply {
  const action = world.action(readIdInPath(request) ?? 0);
  if (action === undefined || action.account !== caller.account) return notFoundReply();
  return apiReplyOfJson(200, `{"action":${serializeAction(action, world.now())}}`);
}
