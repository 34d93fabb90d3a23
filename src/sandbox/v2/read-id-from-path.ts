import type { SandboxHttpRequest } from '../http/http-request.ts';

/** Parses the id in the path; undefined unless it has the form in which the API writes numbers. */
export function readIdFromRequestPath(request: SandboxHttpRequest): number | undefined {
  const [text = ''] = request.captures;
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;
}
