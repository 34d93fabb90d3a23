import type { SandboxApiReply } from './api-reply.ts';

type ProblemStatus = keyof typeof IDS;

/** Creates an error of the resource API with the body `{id, message}`, to which the server adds `request_id`. */
export function apiErrorReply(
  status: ProblemStatus,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): SandboxApiReply {
  return { status, value: { id: IDS[status], message }, headers };
}

/** The error for a missing resource, and also for an unknown access token (docs/service.md S7.5). */
export function notFoundReply(): SandboxApiReply {
  return apiErrorReply(404, 'The resource you were accessing could not be found.');
}

/** The error for a path that the sandbox does not have; its id differs from the id for an unknown access token. */
export function noSuchPathReply(): SandboxApiReply {
  const message = 'The sandbox does not have this path.';
  return { ...notFoundReply(), value: { id: 'no_such_path', message } };
}

export function insufficientScopeReply(): SandboxApiReply {
  const message = 'You do not have access for the attempted action: the scope of the access token is read.';
  // The header WWW-Authenticate follows RFC 6750 §3.1.
  return apiErrorReply(403, message, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="read write"' });
}

/** The error for an invalid value; the message names the field. */
export function unprocessableReply(message: string): SandboxApiReply {
  return apiErrorReply(422, message);
}

/** Returns the error id for a status; `error` for a status that only faults use. */
export function getApiErrorIdOfStatus(status: number): string {
  return new Map<number, string>(Object.entries(IDS).map(([code, id]) => [Number(code), id])).get(status) ?? 'error';
}

const IDS = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  421: 'misdirected_request',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  500: 'server_error',
} as const;
