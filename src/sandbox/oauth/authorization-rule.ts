import type { HttpReply } from '../http/http-reply.ts';
import type { RequestParameters } from '../http/request-parameters.ts';
import type { Application } from '../records.ts';
import type { RedirectTarget } from './authorization-redirects.ts';

/** A request whose client and redirect URI are known, so that what is wrong with it may be sent back there. */
export interface RuleInput {
  readonly parameters: RequestParameters;
  readonly application: Application;
  readonly to: RedirectTarget;
}

/** Judges one thing: a reply ends the request, undefined lets it go on. */
export type AuthorizationRule = (asked: RuleInput) => HttpReply | undefined;
