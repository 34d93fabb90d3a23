import { createHash, timingSafeEqual } from 'node:crypto';
import { isRecord, parseJson, textOf } from '../../json.ts';
import { parseParameters } from '../parameters.ts';
import { refuse } from '../refusal.ts';
import { type LoopbackRequest, rawQuery } from '../request.ts';
import type { Decision, Expected, Phase } from '../rule.ts';
import { latch } from './response.ts';

/** The fragment of the implicit flow, handed over by the bridge page with the nonce it was served with. */
export function relayResponse<Accepted>(
  expected: Expected<Accepted>,
  phase: Phase,
  request: LoopbackRequest,
): Decision<Accepted> {
  // What the bridge hands over is in the body; a query would carry it into logs, and no page of ours sends one.
  if (rawQuery(request) !== '') {
    return refuse('not_a_response');
  }
  if (request.body?.kind !== 'text') {
    return { kind: 'read_body' };
  }
  const relayed = decode(request.body.text);
  if (relayed === undefined) {
    return refuse('not_a_response');
  }
  if (!timingSafeEqual(digest(relayed.nonce), digest(expected.nonce))) {
    return refuse('forbidden');
  }
  return latch(expected, phase, parseParameters(relayed.fragment), 'fragment');
}

interface Relayed {
  readonly nonce: string;
  /** The raw fragment, without its mark. */
  readonly fragment: string;
}

function decode(text: string): Relayed | undefined {
  const json = parseJson(text);
  if (!json.ok || !isRecord(json.value)) {
    return undefined;
  }
  const nonce = textOf(json.value, 'nonce');
  const fragment = textOf(json.value, 'fragment');
  return nonce === undefined || fragment === undefined ? undefined : { nonce, fragment };
}

// Digests have one length, whatever was sent.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
