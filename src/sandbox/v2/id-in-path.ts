import type { HttpRequest } from '../http/http-request.ts';

/** The number in the path, written as the API writes numbers; other spellings name nothing. */
export function readIdInPath(request: HttpRequest): number | undefined {
  const [text = ''] = request.captures;
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}
