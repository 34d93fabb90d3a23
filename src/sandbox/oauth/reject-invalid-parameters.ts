import type { HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { buildInvalidRequestReply } from './oauth-errors.ts';

/** Rejects a request with repeated parameters or with a body that cannot be read (RFC 6749 §3.2). */
export function rejectInvalidParameters(request: HttpRequest, names: readonly string[]): HttpReply | undefined {
  const parameters = request.parameters();
  if (parameters.problem !== undefined) return buildInvalidRequestReply(parameters.problem);
  const repeated = names.find((name) => parameters.isRepeated(name));
  return repeated === undefined
    ? undefined
    : buildInvalidRequestReply(`The parameter ${repeated} is included more than once.`);
}
