import type { Method, Outcome } from '../finding.ts';
import type { Wish } from '../wish.ts';
import type { Asks, Values } from './ask.ts';
import type { Ground } from './ground.ts';

/** A judge is pure: facts in, one outcome out. It runs only when every question it cannot do without was answered. */
export interface Check<A extends Asks = Asks> {
  readonly id: string;
  /** What is true when it passes. */
  readonly title: string;
  readonly spec?: string;
  /** What must stand before the check makes sense. `address`: nothing; `entry`: the server let us in. */
  readonly needs: 'address' | 'entry';
  /** The methods a `fail` of it may block. */
  readonly mayBlock: readonly Method[];
  readonly asks: A;
  readonly judge: (values: Values<A>, ground: Ground, wish: Wish) => Outcome;
}

// biome-ignore lint/suspicious/noExplicitAny: the catalogue holds checks with different questions; each was typed where it was written.
export type AnyCheck = Check<any>;

/** Gives the judge the types of its own questions. */
export function check<A extends Asks>(written: Check<A>): Check<A> {
  return written;
}

/** Both ways a Redis can be migrated, best first. */
export const every: readonly Method[] = ['continuous', 'scan'];
