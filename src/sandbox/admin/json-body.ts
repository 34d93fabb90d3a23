import type { SandboxHttpRequest } from '../http/http-request.ts';
import { isJsonObject, parseJsonWithDuplicateKeys } from '../http/json-text.ts';

/** The members of the JSON object in the request body: empty for an empty body, undefined if the body is not a JSON object. */
export function readAdminJsonBody(request: SandboxHttpRequest): ReadonlyMap<string, unknown> | undefined {
  if (request.body.trim() === '') return new Map();
  const value = parseJsonWithDuplicateKeys(request.body)?.value;
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

/** Returns a member that must be a non-empty string; undefined when it is absent or has another type. */
export function nonEmptyTextMember(body: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = body.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
