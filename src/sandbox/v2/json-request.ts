import type { SandboxHttpRequest } from '../http/http-request.ts';
import { type DuplicateJsonKey, parseJsonWithDuplicateKeys } from '../http/json-text.ts';
import { parseMediaType } from '../http/media-type.ts';
import { apiErrorReply } from './api-errors.ts';
import type { SandboxApiReply } from './api-reply.ts';

export interface ParsedJsonRequestBody {
  readonly value: unknown;
  readonly repeated: readonly DuplicateJsonKey[];
}

/**
 * Decodes the JSON body of a request; returns a SandboxApiReply with status 415 when the content type is not JSON, and 400 when
 * the text is not valid JSON.
 */
export function readApiJsonRequest(request: SandboxHttpRequest): ParsedJsonRequestBody | SandboxApiReply {
  if (parseMediaType(request.header('content-type')[0]) !== 'application/json') {
    return apiErrorReply(415, 'The Content-Type of the request must be application/json.');
  }
  return parseJsonWithDuplicateKeys(request.body) ?? apiErrorReply(400, 'The request body is not valid JSON.');
}
