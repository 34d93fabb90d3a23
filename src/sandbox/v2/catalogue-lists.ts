import type { HttpRequest } from '../http/http-request.ts';
import type { ApiReply } from './api-reply.ts';
import { buildListReply, readListPageRequest, sliceListPage } from './paging.ts';
import { SANDBOX_IMAGES_JSON, SANDBOX_REGIONS_JSON, SANDBOX_SIZES_JSON } from './resource-json.ts';

export function handleGetRegionsRequest(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'regions', SANDBOX_REGIONS_JSON);
}

export function handleGetSizesRequest(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'sizes', SANDBOX_SIZES_JSON);
}

export function handleGetImagesRequest(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'images', SANDBOX_IMAGES_JSON);
}

function catalogueReply(request: HttpRequest, key: string, items: ReadonlyMap<unknown, string>): ApiReply {
  const page = readListPageRequest(request);
  if ('status' in page) return page;
  const slice = sliceListPage([...items.values()], page, 'forwards');
  return buildListReply(request, key, page, slice, slice.items);
}
