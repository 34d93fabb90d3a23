import type { CheckFinding } from './finding.ts';
import type { PreflightFixEffect } from './fix-effect.ts';

/**
 * The effect of a fix, with the database whose finding the fix corrects; undefined if it is a finding of the server.
 */
export interface FixEffectInDatabase {
  readonly effect: PreflightFixEffect;
  readonly database: string | undefined;
}

/** The findings that change when the given effects are applied, with the result of `buildFindingKey` as the key. */
export interface FindingsChangedByFixEffects {
  readonly changed: ReadonlyMap<string, CheckFinding>;
  /** Why the server would not start after the restart; undefined if it would start. */
  readonly cannotStart?: string | undefined;
}

export type FixSimulationProblem =
  | { readonly kind: 'worse'; readonly findings: readonly CheckFinding[] }
  | { readonly kind: 'start'; readonly why: string }
  /** Another fix sets the same name to another value, which corrects this finding too, or does not. */
  | { readonly kind: 'conflict'; readonly with: string; readonly isCorrected: boolean };

export interface PreflightFixWithEffects {
  readonly finding: CheckFinding;
  readonly effects: readonly FixEffectInDatabase[];
}

export function buildFindingKey({ id, database }: Pick<CheckFinding, 'id' | 'database'>): string {
  return database === undefined ? id : `${id} ${database}`;
}
