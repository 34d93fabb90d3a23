import type { CallbackParameters, ParameterLocation } from './callback-parameters.ts';
import type { LoopbackRequest } from './loopback-request.ts';
import type { Refusal } from './refusal.ts';

/** What this login expects of a request; fixed from the moment the port is bound. */
export interface LoginExpectations<Accepted> {
  /** H: the authority of the callback URL. */
  readonly host: string;
  readonly flow: 'code' | 'implicit';
  readonly paths: LoopbackPaths;
  /** The callback URL's own raw query, mostly empty. */
  readonly callbackQuery: string;
  /** Origin of the authorization server: the only foreign one a browser may name. */
  readonly authorizationOrigin: string;
  /** What the relay must repeat: proof that it speaks for a bridge page of ours. */
  readonly nonce: string;
  readonly validate: ResponseValidator<Accepted>;
}

/** Judges parameters by the protocol; undefined is noise: no authorization response at all. */
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

/** One login is one state machine: armed, taken, closed. */
export type LoginPhase =
  | { readonly kind: 'armed'; readonly started: boolean }
  | { readonly kind: 'taken' }
  | { readonly kind: 'closed' };

/** What the helper does with a request. Only `taken` and `start` change the login. */
export type RequestDecision<Accepted> =
  | Refusal
  /** Read the body, up to `bodyLimit`, and decide again. */
  | { readonly kind: 'read_body' }
  | { readonly kind: 'bridge' }
  | { readonly kind: 'start' }
  | { readonly kind: 'done' }
  | { readonly kind: 'taken'; readonly accepted: Accepted; readonly place: ParameterLocation };

/** A check that comes before STATE: it can refuse and nothing else. */
export type RequestCheck = (expected: LoginExpectations<unknown>, request: LoopbackRequest) => Refusal | undefined;
