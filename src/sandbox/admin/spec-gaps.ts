import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import { SPEC_GAPS } from '../spec-gaps.ts';

export function handleGetUnspecifiedBehaviors(): HttpReply {
  return jsonReply(200, { choices: SPEC_GAPS });
}
