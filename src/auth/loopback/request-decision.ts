import type { CallbackParameterLocation, CallbackParameters } from './callback-parameters.ts';
import type { LoopbackHttpRequest } from './loopback-http-request.ts';
import type { LoopbackRefusal } from './refusal.ts';

/** The values that a request to the loopback server must have; they are known once the port is bound. */
export interface LoopbackRequestExpectations<Accepted> {
  /** Whether a peer may send requests: only this machine, or the networks that the user allowed. */
  readonly isAllowedPeer: (address: string | undefined) => boolean;
  /** Host and port of the callback URL, as in the Host header. */
  readonly host: string;
  readonly flow: 'code' | 'implicit';
  readonly paths: LoopbackPaths;
  /** The raw query of the callback URL itself; usually empty. */
  readonly callbackQuery: string;
  /** The origin of the authorization server. An Origin header may name only this origin or that of the loopback server. */
  readonly authorizationOrigin: string;
  /** The nonce that the relay request must contain, which proves that the request comes from the bridge page. */
  readonly nonce: string;
  readonly validate: AuthorizationResponseValidator<Accepted>;
}

/** Validates the parameters of a request; returns undefined when they are not an authorization response. */
export type AuthorizationResponseValidator<Accepted> = (
  parameters: CallbackParameters,
  place: CallbackParameterLocation,
) => Accepted | undefined;

export interface LoopbackPaths {
  readonly callback: string;
  readonly relay: string;
  readonly start: string;
  readonly done: string;
}

/** The phases of a login: armed (waits for a response), taken (a response was accepted), closed. */
export type LoopbackLoginPhase =
  | { readonly kind: 'armed'; readonly started: boolean }
  | { readonly kind: 'taken' }
  | { readonly kind: 'closed' };

/**
 * The decision of the loopback server about a request. Of the decisions, only `taken`, `start` and `start_again` change the
 * phase of the login.
 */
export type LoopbackRequestDecision<Accepted> =
  | LoopbackRefusal
  /** The server must read the request body, up to `maxLoopbackRequestBodyBytes`, and decide again. */
  | { readonly kind: 'read_body' }
  | { readonly kind: 'bridge' }
  | { readonly kind: 'start' }
  /** The start URL was opened a second time, possibly by another user who has read it, so the login ends. */
  | { readonly kind: 'start_again' }
  | { readonly kind: 'done' }
  | { readonly kind: 'taken'; readonly accepted: Accepted; readonly place: CallbackParameterLocation };

/** A check of a request before the state parameter is compared: it can refuse the request but not accept it. */
export type LoopbackRequestCheck = (
  expected: LoopbackRequestExpectations<unknown>,
  request: LoopbackHttpRequest,
) => LoopbackRefusal | undefined;
