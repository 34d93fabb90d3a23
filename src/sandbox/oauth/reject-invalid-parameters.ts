import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { buildInvalidRequestReply } from './oauth-errors.ts';

/** Rejects a request with repeated parameters or with a body that cannot be read (RFC 6749 §3.2). */
export function rejectInvalidParameters(
  request: SandboxHttpRequest,
  names: readonly string[],
): SandboxHttpReply | undefined {
  const parameters = request.parameters();
  if (parameters.problem !== undefined) return buildInvalidRequestReply(parameters.problem);
  const repeated = names.find((name) => parameters.isRepeated(name));
  return repeated === undefined
    ? undefined
    : buildInvalidRequestReply(`The parameter ${repeated} is included more than once.`);
}
