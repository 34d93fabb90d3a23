import type { HttpRequest } from '../http/http-request.ts';
import { parseJsonText } from '../http/json-text.ts';

/** The members of the JSON object a request carries; none when the body is empty, undefined when it is something else. */
export function readJsonBody(request: HttpRequest): ReadonlyMap<string, unknown> | undefined {
  if (request.body.trim() === '') return new Map();
  const value = parseJsonText(request.body)?.value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

/** A member that must be text; undefined when it is absent or anything else. */
export function textMember(body: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = body.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
