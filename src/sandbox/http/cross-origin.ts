import type { SandboxHttpReply } from './http-reply.ts';
import type { SandboxHttpRequest } from './http-request.ts';

/**
 * Whether a browser sent the request to learn whether a page of another origin may send a request with a bearer token
 * (https://fetch.spec.whatwg.org/#cors-preflight-fetch).
 */
export function isCorsPreflight(request: SandboxHttpRequest): boolean {
  return request.method === 'OPTIONS' && request.header('access-control-request-method').length > 0;
}

export const CORS_PREFLIGHT_REPLY: SandboxHttpReply = {
  status: 204,
  headers: {
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
    'access-control-allow-headers': 'authorization, content-type',
  },
  body: '',
};

/**
 * The headers of a response that pages of every origin may read. Pages send no cookies with such a request, because the
 * response does not allow credentials.
 */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'allow, date, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, www-authenticate, x-request-id',
};
