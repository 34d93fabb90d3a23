import type { CallbackParameters, ParameterLocation } from './callback-parameters.ts';
import type { LoopbackRequest } from './loopback-request.ts';
import type { LoopbackRefusal } from './refusal.ts';

/** The values that a request is checked against; fixed when the port is bound. */
export interface LoginExpectations<Accepted> {
  /** The authority of the callback URL, as in the Host header. */
  readonly host: string;
  readonly flow: 'code' | 'implicit';
  readonly paths: LoopbackPaths;
  /** The raw query of the callback URL itself; usually empty. */
  readonly callbackQuery: string;
  /** Origin of the authorization server: the only other origin that an Origin header may name. */
  readonly authorizationOrigin: string;
  /** The relay request must contain it: it proves that the request comes from the bridge page. */
  readonly nonce: string;
  readonly validate: ResponseValidator<Accepted>;
}

/** Validates parameters; undefined when they are not an authorization response. */
export type ResponseValidator<Accepted> = (
  parameters: CallbackParameters,
  place: ParameterLocation,
) => Accepted | undefined;

export interface LoopbackPaths {
  readonly callback: string;
  readonly relay: string;
  readonly start: string;
  readonly done: string;
}

/** The phases of a login: armed (waits), taken (a response was accepted), closed. */
export type LoginPhase =
  | { readonly kind: 'armed'; readonly started: boolean }
  | { readonly kind: 'taken' }
  | { readonly kind: 'closed' };

/** What the loopback server does with a request. Only `taken`, `start` and `start_again` change the login. */
export type RequestDecision<Accepted> =
  | LoopbackRefusal
  /** Read the body, up to `maxRequestBodyBytes`, and decide again. */
  | { readonly kind: 'read_body' }
  | { readonly kind: 'bridge' }
  | { readonly kind: 'start' }
  /** The start URL was used before: somebody else may have read it, so the login ends. */
  | { readonly kind: 'start_again' }
  | { readonly kind: 'done' }
  | { readonly kind: 'taken'; readonly accepted: Accepted; readonly place: ParameterLocation };

/** A check that runs before the state is compared: it can only refuse. */
export type RequestCheck = (
  expected: LoginExpectations<unknown>,
  request: LoopbackRequest,
) => LoopbackRefusal | undefined;
