import type { ApiRequestHandler } from './api-caller.ts';
import { notFoundReply } from './api-errors.ts';
import { apiReplyOfJsonText } from './api-reply.ts';
import { buildListReply, readListPageRequest, sliceListPage } from './paging.ts';
import { readIdFromRequestPath } from './read-id-from-path.ts';
import { serializeAction } from './resource-json.ts';

/** Newest first. */
export const handleGetActionsRequest: ApiRequestHandler = (request, { world }, caller) => {
  const page = readListPageRequest(request);
  if ('status' in page) return page;
  const slice = sliceListPage(world.actions(caller.account), page, 'backwards');
  const now = world.now();
  const views = slice.items.map((action) => serializeAction(action, now));
  return buildListReply(request, 'actions', page, slice, views);
};

export const handleGetActionRequest: ApiRequestHandler = (request, { world }, caller) => {
  const action = world.action(readIdFromRequestPath(request) ?? 0);
  if (action === undefined || action.account !== caller.account) return notFoundReply();
  return apiReplyOfJsonText(200, `{"action":${serializeAction(action, world.now())}}`);
};
