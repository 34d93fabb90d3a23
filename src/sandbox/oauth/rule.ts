import type { Parameters } from '../http/parameters.ts';
import type { Reply } from '../http/reply.ts';
import type { Application } from '../records.ts';
import type { Return } from './redirects.ts';

/** A request whose client and redirect URI are known, so that what is wrong with it may be sent back there. */
export interface Asked {
  readonly parameters: Parameters;
  readonly application: Application;
  readonly to: Return;
}

/** Judges one thing: a reply ends the request, undefined lets it go on. */
export type Rule = (asked: Asked) => Reply | undefined;
