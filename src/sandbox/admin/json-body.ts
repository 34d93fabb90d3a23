import type { HttpRequest } from '../http/http-request.ts';
import { isJsonObject, parseJsonText } from '../http/json-text.ts';

/** The members of the JSON object in the body; no members when the body is empty, undefined when it is anything else. */
export function readJsonBody(request: HttpRequest): ReadonlyMap<string, unknown> | undefined {
  if (request.body.trim() === '') return new Map();
  const value = parseJsonText(request.body)?.value;
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

/** A member that must be a non-empty string; undefined when it is absent or anything else. */
export function nonEmptyTextMember(body: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = body.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
