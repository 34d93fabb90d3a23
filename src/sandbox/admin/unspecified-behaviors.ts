import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import { SPEC_GAPS } from '../spec-gaps.ts';

export function handleGetUnspecifiedBehaviors(): SandboxHttpReply {
  return jsonReply(200, { choices: SPEC_GAPS });
}
