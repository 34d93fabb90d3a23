import type { SandboxHttpRequest } from '../http/http-request.ts';
import type { SandboxApiReply } from './api-reply.ts';
import { buildListReply, readListPageRequest, sliceListPage } from './paging.ts';
import { SANDBOX_IMAGES_JSON, SANDBOX_REGIONS_JSON, SANDBOX_SIZES_JSON } from './resource-json.ts';

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
