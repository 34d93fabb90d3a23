import { isJsonRecord, readStringField, tryParseJson } from '../../../base/json.ts';
import { equalInConstantTime } from '../../../platform/equal-in-constant-time.ts';
import { parseCallbackParameters } from '../callback-parameters.ts';
import { type LoopbackHttpRequest, readRawRequestQuery } from '../loopback-http-request.ts';
import { buildLoopbackRefusal } from '../refusal.ts';
import type { LoopbackLoginPhase, LoopbackRequestDecision, LoopbackRequestExpectations } from '../request-decision.ts';
import { decideAuthorizationResponse } from './decide-callback.ts';

/** Decides how to respond to a relay request, which contains the fragment of the implicit flow and the nonce of the bridge page. */
export function decideFragmentRelayRequest<Accepted>(
  expected: LoopbackRequestExpectations<Accepted>,
  phase: LoopbackLoginPhase,
  request: LoopbackHttpRequest,
): LoopbackRequestDecision<Accepted> {
  // The bridge page sends the fragment in the request body, because a query could be written to logs.
  if (readRawRequestQuery(request) !== '') {
    return buildLoopbackRefusal('not_a_response');
  }
  if (request.body?.kind !== 'text') {
    return { kind: 'read_body' };
  }
  const relayed = decodeRelayMessage(request.body.text);
  if (relayed === undefined) {
    return buildLoopbackRefusal('not_a_response');
  }
  if (!equalInConstantTime(relayed.nonce, expected.nonce)) {
    return buildLoopbackRefusal('forbidden');
  }
  return decideAuthorizationResponse(expected, phase, parseCallbackParameters(relayed.fragment), 'fragment');
}

interface RelayMessage {
  readonly nonce: string;
  /** The raw URL fragment without `#`. */
  readonly fragment: string;
}

function decodeRelayMessage(text: string): RelayMessage | undefined {
  const json = tryParseJson(text);
  if (!json.ok || !isJsonRecord(json.value)) {
    return undefined;
  }
  const nonce = readStringField(json.value, 'nonce');
  const fragment = readStringField(json.value, 'fragment');
  return nonce === undefined || fragment === undefined ? undefined : { nonce, fragment };
}
