import type { HttpRequest } from '../http/http-request.ts';
import type { ApiReply } from './api-reply.ts';
import { listReply, readPageRequest, slicePage } from './paging.ts';
import { IMAGE_JSON, REGION_JSON, SIZE_JSON } from './resource-json.ts';

export function getRegions(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'regions', REGION_JSON);
}

export function getSizes(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'sizes', SIZE_JSON);
}

export function getImages(request: HttpRequest): ApiReply {
  return catalogueReply(request, 'images', IMAGE_JSON);
}

function catalogueReply(request: HttpRequest, key: string, items: ReadonlyMap<unknown, string>): ApiReply {
  const page = readPageRequest(request);
  if ('status' in page) return page;
  const slice = slicePage([...items.values()], page, 'forwards');
  return listReply(request, key, page, slice, slice.items);
}
