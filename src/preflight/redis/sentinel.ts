import type { Info } from '../../redis/info.ts';
import type { Answer } from './ask.ts';

/** A Sentinel speaks the protocol and knows none of the commands that move data; role-replica says what to give instead. */
export function isSentinel(server: Answer<Info>): boolean {
  return server.kind === 'known' && server.value.get('redis_mode') === 'sentinel';
}

export const sentinelWords = 'it is a Sentinel: see role-replica';
