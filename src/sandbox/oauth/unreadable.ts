import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { invalidRequest } from './errors.ts';

/** What is wrong with a request before its parameters mean anything: a broken body, or one of them sent twice (RFC 6749 §3.2). */
export function unreadable(request: Request, names: readonly string[]): Reply | undefined {
  const parameters = request.parameters();
  if (parameters.problem !== undefined) return invalidRequest(parameters.problem);
  const repeated = names.find((name) => parameters.isRepeated(name));
  return repeated === undefined ? undefined : invalidRequest(`The parameter ${repeated} is included more than once.`);
}
