import type { HttpRequest } from '../http/http-request.ts';

/** The id in the path; undefined unless it is written as the API writes numbers. */
export function readIdInPath(request: HttpRequest): number | undefined {
  const [text = ''] = request.captures;
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}
