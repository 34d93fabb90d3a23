import type { CheckFinding } from './finding.ts';
import {
  buildFindingKey,
  type FindingsChangedByFixEffects,
  type FixEffectInDatabase,
  type FixSimulationProblem,
  type PreflightFixWithEffects,
} from './preflight-fix-with-effects.ts';

/**
 * Removes one of every two fixes that set the same setting to different values. The fix that corrects both findings
 * is kept, or else the first fix.
 */
export function removeConflictingFixes(
  fixes: readonly PreflightFixWithEffects[],
  isOptional: (fix: PreflightFixWithEffects) => boolean,
  evaluate: (effects: readonly FixEffectInDatabase[]) => FindingsChangedByFixEffects,
  harms: Map<CheckFinding, FixSimulationProblem>,
): readonly PreflightFixWithEffects[] {
  const kept = new Set<PreflightFixWithEffects>();
  const byName = new Map<string, { readonly fix: PreflightFixWithEffects; readonly value: string }>();
  const keep = (fix: PreflightFixWithEffects) => {
    kept.add(fix);
    for (const { name, value } of valuesSetBy(fix)) byName.set(name, { fix, value });
  };
  for (const fix of fixes) {
    const other = valuesSetBy(fix)
      .map(({ name, value }) => ({ value, known: byName.get(name) }))
      .find(({ value, known }) => known !== undefined && kept.has(known.fix) && isConflict(value, known.value))
      ?.known?.fix;
    if (other === undefined) {
      keep(fix);
      continue;
    }
    const corrects = (one: PreflightFixWithEffects, { finding }: PreflightFixWithEffects) =>
      evaluate(one.effects).changed.get(buildFindingKey(finding))?.status === 'pass';
    const isCorrected = corrects(other, fix);
    if (!isCorrected && isOptional(fix) === isOptional(other) && corrects(fix, other)) {
      kept.delete(other);
      keep(fix);
      harms.set(other.finding, { kind: 'conflict', with: fix.finding.id, isCorrected: true });
    } else harms.set(fix.finding, { kind: 'conflict', with: other.finding.id, isCorrected });
  }
  return [...kept];
}

/** The settings that a fix sets; a setting of a role is named with its role and database. */
function valuesSetBy({
  effects,
}: PreflightFixWithEffects): readonly { readonly name: string; readonly value: string }[] {
  return effects.flatMap(({ effect }) => {
    if (effect.kind === 'setting') return [{ name: effect.name, value: effect.value }];
    if (effect.kind !== 'role-setting') return [];
    return [{ name: JSON.stringify([effect.role, effect.database, effect.name]), value: effect.value }];
  });
}

/**
 * If two fixes set a setting to different numbers, they do not conflict, because the fix script sets the larger number
 * (fix-sections.ts).
 */
function isConflict(one: string, other: string): boolean {
  return one !== other && !(/^\d+$/.test(one) && /^\d+$/.test(other));
}
