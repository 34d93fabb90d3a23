import type { Outcome } from '../finding.ts';
import type { Wish } from '../wish.ts';
import type { Asks, Values } from './ask.ts';
import type { Ground } from './ground.ts';

/** A judge is pure: facts in, one outcome out. It runs only when every question of the check was answered; the runner words the rest. */
export interface ServerCheck<A extends Asks = Asks> {
  readonly id: string;
  /** What is true when it passes: `wal_level is logical`. */
  readonly title: string;
  readonly scope: 'server';
  readonly spec?: string;
  /** What must stand before the check makes sense. `address`: nothing; `entry`: the server let us in. */
  readonly needs: 'address' | 'entry';
  readonly asks: A;
  readonly judge: (values: Values<A>, ground: Ground, wish: Wish) => Outcome;
}

/** Judged once for each database that is not ignored. */
export interface DatabaseCheck<A extends Asks = Asks> {
  readonly id: string;
  readonly title: string;
  readonly scope: 'database';
  readonly spec?: string;
  readonly asks: A;
  /** `database` is its name. */
  readonly judge: (values: Values<A>, database: string, ground: Ground, wish: Wish) => Outcome;
}

// biome-ignore lint/suspicious/noExplicitAny: the catalogue holds checks with different questions; each was typed where it was written.
export type AnyCheck = ServerCheck<any> | DatabaseCheck<any>;

/** Gives the judge the types of its own questions. */
export function serverCheck<A extends Asks>(check: Omit<ServerCheck<A>, 'scope'>): ServerCheck<A> {
  return { scope: 'server', ...check };
}

export function databaseCheck<A extends Asks>(check: Omit<DatabaseCheck<A>, 'scope'>): DatabaseCheck<A> {
  return { scope: 'database', ...check };
}
