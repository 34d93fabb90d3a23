import { createHash, timingSafeEqual } from 'node:crypto';
import { isRecord, parseJson, stringField } from '../../json.ts';
import { parseCallbackParameters } from '../callback-parameters.ts';
import { type LoopbackRequest, rawQuery } from '../loopback-request.ts';
import { refuseRequest } from '../refusal.ts';
import type { LoginExpectations, LoginPhase, RequestDecision } from '../request-decision.ts';
import { acceptResponse } from './decide-callback.ts';

/** The fragment of the implicit flow, handed over by the bridge page with the nonce it was served with. */
export function decideRelay<Accepted>(
  expected: LoginExpectations<Accepted>,
  phase: LoginPhase,
  request: LoopbackRequest,
): RequestDecision<Accepted> {
  // What the bridge hands over is in the body; a query would carry it into logs, and no page of ours sends one.
  if (rawQuery(request) !== '') {
    return refuseRequest('not_a_response');
  }
  if (request.body?.kind !== 'text') {
    return { kind: 'read_body' };
  }
  const relayed = decodeRelayMessage(request.body.text);
  if (relayed === undefined) {
    return refuseRequest('not_a_response');
  }
  if (!timingSafeEqual(digest(relayed.nonce), digest(expected.nonce))) {
    return refuseRequest('forbidden');
  }
  return acceptResponse(expected, phase, parseCallbackParameters(relayed.fragment), 'fragment');
}

interface RelayMessage {
  readonly nonce: string;
  /** The raw fragment, without its mark. */
  readonly fragment: string;
}

function decodeRelayMessage(text: string): RelayMessage | undefined {
  const json = parseJson(text);
  if (!json.ok || !isRecord(json.value)) {
    return undefined;
  }
  const nonce = stringField(json.value, 'nonce');
  const fragment = stringField(json.value, 'fragment');
  return nonce === undefined || fragment === undefined ? undefined : { nonce, fragment };
}

// Digests have one length, whatever was sent.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
