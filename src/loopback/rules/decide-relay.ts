import { isRecord, parseJson, stringField } from '../../json.ts';
import { equalInConstantTime } from '../../platform/equal-in-constant-time.ts';
import { parseCallbackParameters } from '../callback-parameters.ts';
import { type LoopbackRequest, rawQuery } from '../loopback-request.ts';
import { refuseRequest } from '../refusal.ts';
import type { LoginExpectations, LoginPhase, RequestDecision } from '../request-decision.ts';
import { acceptAuthorizationResponse } from './decide-callback.ts';

/** Decides how to respond to a relay request, which contains the fragment of the implicit flow and the nonce of the bridge page. */
export function decideRelay<Accepted>(
  expected: LoginExpectations<Accepted>,
  phase: LoginPhase,
  request: LoopbackRequest,
): RequestDecision<Accepted> {
  // The bridge page sends the fragment in the request body, because a query could be written to logs.
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
  if (!equalInConstantTime(relayed.nonce, expected.nonce)) {
    return refuseRequest('forbidden');
  }
  return acceptAuthorizationResponse(expected, phase, parseCallbackParameters(relayed.fragment), 'fragment');
}

interface RelayMessage {
  readonly nonce: string;
  /** The raw URL fragment without `#`. */
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
