import type { Finding } from './finding.ts';
import type { FixEffect } from './fix-effect.ts';

/**
 * The effect of a fix, with the database whose finding the fix corrects; undefined if it is a finding of the server.
 */
export interface EffectInDatabase {
  readonly effect: FixEffect;
  readonly database: string | undefined;
}

/** The findings that change when some effects are applied, by `findingKey`. */
export interface EvaluatedEffects {
  readonly changed: ReadonlyMap<string, Finding>;
  /** Why the server would not start after the restart; undefined if it would start. */
  readonly cannotStart?: string | undefined;
}

export type SimulationProblem =
  | { readonly kind: 'worse'; readonly findings: readonly Finding[] }
  | { readonly kind: 'start'; readonly why: string }
  /** Another fix sets the same name to another value, which corrects this finding too, or does not. */
  | { readonly kind: 'conflict'; readonly with: string; readonly isCorrected: boolean };

export interface SimulatedFix {
  readonly finding: Finding;
  readonly effects: readonly EffectInDatabase[];
}

export function findingKey({ id, database }: Pick<Finding, 'id' | 'database'>): string {
  return database === undefined ? id : `${id} ${database}`;
}
