/** The refusal of a request, which has no effect on the login. */
export interface LoopbackRefusal {
  readonly kind: 'refuse';
  readonly reason: LoopbackRefusalReason;
  /** The allowed method, which the Allow header of a 405 response names. */
  readonly allow?: 'GET' | 'POST';
}

/** The reasons for a refusal, with their HTTP status. */
export const loopbackRefusalStatusCodes = {
  not_a_response: 400,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_finished: 410,
  already_started: 410,
  body_too_large: 413,
  expectation_failed: 417,
  misdirected: 421,
  headers_too_large: 431,
} as const;

export type LoopbackRefusalReason = keyof typeof loopbackRefusalStatusCodes;

export function buildLoopbackRefusal(page: Exclude<LoopbackRefusalReason, 'method_not_allowed'>): LoopbackRefusal {
  return { kind: 'refuse', reason: page };
}

export function buildLoopbackHttpMethodRefusal(allow: 'GET' | 'POST'): LoopbackRefusal {
  return { kind: 'refuse', reason: 'method_not_allowed', allow };
}

/**
 * Called with the address of a peer that may not send the authorization response. `address`: its connection was closed, because
 * it is not an allowed peer. `user`: its request was refused while the login waits, because the peer belongs to another user.
 */
export type RefusedPeerCallback = (address: string, reason: 'address' | 'user') => void;
