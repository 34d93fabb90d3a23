import type { Finding, FindingStatus, Fix, MigrationMethod } from './finding.ts';
import type { FixEffect } from './fix-effect.ts';
import { isInFixScript, isOptionalFix } from './fix-sections.ts';

/** An effect with the database whose finding it corrects; undefined: the server. */
export interface PlacedEffect {
  readonly effect: FixEffect;
  readonly database: string | undefined;
}

/** The findings that change with some effects, by `findingKey`. */
export interface EvaluatedEffects {
  readonly changed: ReadonlyMap<string, Finding>;
  /** Why the server would not start after the restart; undefined: it would. */
  readonly cannotStart?: string | undefined;
}

export interface FixSimulation {
  /** The findings, without the statements of fixes that would make another finding worse, and without effects. */
  readonly findings: readonly Finding[];
  /** The findings after the fix script as it is, without its optional part; undefined: it runs nothing. */
  readonly after: readonly Finding[] | undefined;
  /** Ids of the findings whose fixes are in that part and were not simulated. */
  readonly notSimulated: readonly string[];
}

/**
 * Evaluates the checks with the effects of each fix, then with those of all. `evaluate` is pure: what the checks find with
 * these effects instead of the observed values.
 */
export function simulateFixes(
  findings: readonly Finding[],
  method: MigrationMethod,
  evaluate: (effects: readonly PlacedEffect[]) => EvaluatedEffects,
): FixSimulation {
  const observed = new Map(findings.map((finding) => [findingKey(finding), finding]));
  const written = findings.filter(isInFixScript);
  const harms = new Map<Finding, Harm>();
  const candidates = firstOfEachFix(written);
  const expected = new Map(observed);
  for (const { finding, effects } of candidates) {
    const alone = evaluate(effects);
    const found = worsened(observed, alone, finding);
    if (found.length > 0) harms.set(finding, { kind: 'worse', findings: found });
    else expected.set(findingKey(finding), alone.changed.get(findingKey(finding)) ?? finding);
  }
  const isOptional = ({ finding }: SimulatedFix) => isOptionalFix(finding, method);
  const harmless = candidates.filter(({ finding }) => !harms.has(finding));
  // What the script runs comes before what is in its comments.
  const ordered = harmless.toSorted((a, b) => Number(isOptional(a)) - Number(isOptional(b)));
  const offered = withoutConflicts(ordered, isOptional, evaluate, harms);
  const required = offered.filter((one) => !isOptional(one));
  const isSafe = [required, offered].every((group) => harmOfAll(observed, expected, group, evaluate) === undefined);
  if (!isSafe) dropHarmfulAdditions(observed, expected, offered, evaluate, harms);
  const kept = required.filter(({ finding }) => !harms.has(finding));
  const harmOfFix = new Map([...harms].map(([finding, harm]) => [fixKey(finding), harm]));
  const result = findings.map((finding) =>
    finding.fix === undefined ? finding : { ...finding, fix: reportedFix(finding, harmOfFix.get(fixKey(finding))) },
  );
  const run = result.filter((finding) => isInFixScript(finding) && !isOptionalFix(finding, method));
  const { changed } = evaluate(effectsOf(kept));
  return {
    findings: result,
    after:
      run.length === 0
        ? undefined
        : result.map((finding) => withoutEffects(changed.get(findingKey(finding)) ?? finding)),
    notSimulated: [...new Set(run.filter(({ fix }) => fix?.simulated === false).map(({ id }) => id))],
  };
}

export function findingKey({ id, database }: Pick<Finding, 'id' | 'database'>): string {
  return database === undefined ? id : `${id} ${database}`;
}

type Harm =
  | { readonly kind: 'worse'; readonly findings: readonly Finding[] }
  | { readonly kind: 'start'; readonly why: string }
  /** Another fix sets the same name to another value, which corrects this finding too, or does not. */
  | { readonly kind: 'conflict'; readonly with: string; readonly isCorrected: boolean };

interface SimulatedFix {
  readonly finding: Finding;
  readonly effects: readonly PlacedEffect[];
}

/** The same statements for the server may be the fix of many findings. */
function firstOfEachFix(written: readonly Finding[]): readonly SimulatedFix[] {
  const known = new Set<string>();
  return written.flatMap((finding): readonly SimulatedFix[] => {
    const { fix, database } = finding;
    const key = fixKey(finding);
    if (fix?.effects === undefined || known.has(key)) return [];
    known.add(key);
    const restart: readonly FixEffect[] = fix.restart === true ? [{ kind: 'restart' }] : [];
    return [{ finding, effects: [...restart, ...fix.effects].map((effect) => ({ effect, database })) }];
  });
}

function fixKey(finding: Finding): string {
  const { fix } = finding;
  return fix?.database === undefined && (fix?.sql ?? fix?.review ?? fix?.shell) !== undefined
    ? JSON.stringify([fix?.sql, fix?.review, fix?.shell])
    : findingKey(finding);
}

function effectsOf(fixes: readonly SimulatedFix[]): readonly PlacedEffect[] {
  return fixes.flatMap(({ effects }) => effects);
}

/** What the fixes do together: each must still correct its own finding as it does alone. */
function harmOfAll(
  observed: ReadonlyMap<string, Finding>,
  expected: ReadonlyMap<string, Finding>,
  fixes: readonly SimulatedFix[],
  evaluate: (effects: readonly PlacedEffect[]) => EvaluatedEffects,
): Harm | undefined {
  const evaluated = evaluate(effectsOf(fixes));
  if (evaluated.cannotStart !== undefined) return { kind: 'start', why: evaluated.cannotStart };
  const keys = fixes.map(({ finding }) => findingKey(finding));
  const before = new Map([...observed, ...keys.map((key) => [key, expected.get(key)!] as const)]);
  const found = worsened(before, evaluated);
  return found.length === 0 ? undefined : { kind: 'worse', findings: found };
}

/** The other findings that are worse than observed. One that was skipped was not evaluated before, so it is not worse. */
function worsened(
  observed: ReadonlyMap<string, Finding>,
  { changed }: EvaluatedEffects,
  except?: Finding,
): readonly Finding[] {
  return [...changed].flatMap(([key, after]) => {
    const before = observed.get(key);
    return before === undefined || before === except || !isWorse(before, after) ? [] : [after];
  });
}

function isWorse(before: Finding, after: Finding): boolean {
  if (before.status === 'skip') return false;
  if (severityOf[after.status] > severityOf[before.status]) return true;
  if (before.dataLoss === undefined && after.dataLoss !== undefined) return true;
  return after.blocks.some((method) => !before.blocks.includes(method));
}

const severityOf: Readonly<Record<FindingStatus, number>> = { pass: 0, info: 0, skip: 0, unknown: 1, warn: 2, fail: 3 };

/** Of two fixes that set one name to different values only one is kept: the one that corrects both findings, or the first. */
function withoutConflicts(
  fixes: readonly SimulatedFix[],
  isOptional: (fix: SimulatedFix) => boolean,
  evaluate: (effects: readonly PlacedEffect[]) => EvaluatedEffects,
  harms: Map<Finding, Harm>,
): readonly SimulatedFix[] {
  const kept: SimulatedFix[] = [];
  for (const fix of fixes) {
    const other = kept.find((one) => isConflict(one, fix));
    if (other === undefined) {
      kept.push(fix);
      continue;
    }
    const corrects = (one: SimulatedFix, { finding }: SimulatedFix) =>
      evaluate(one.effects).changed.get(findingKey(finding))?.status === 'pass';
    const isCorrected = corrects(other, fix);
    if (!isCorrected && isOptional(fix) === isOptional(other) && corrects(fix, other)) {
      kept.splice(kept.indexOf(other), 1, fix);
      harms.set(other.finding, { kind: 'conflict', with: fix.finding.id, isCorrected: true });
    } else harms.set(fix.finding, { kind: 'conflict', with: other.finding.id, isCorrected });
  }
  return kept;
}

function isConflict(one: SimulatedFix, other: SimulatedFix): boolean {
  return one.effects.some(({ effect: a }) =>
    other.effects.some(({ effect: b }) => {
      if (a.kind === 'setting' && b.kind === 'setting') {
        // The script takes the larger of two numbers (fix-sections.ts).
        const isMerged = /^\d+$/.test(a.value) && /^\d+$/.test(b.value);
        return a.name === b.name && a.value !== b.value && !isMerged;
      }
      if (a.kind !== 'role-setting' || b.kind !== 'role-setting') return false;
      return a.name === b.name && a.role === b.role && a.database === b.database && a.value !== b.value;
    }),
  );
}

/**
 * Adds one fix after the other. One that makes a finding worse together with those before it is dropped, or the one of those
 * without which it does not.
 */
function dropHarmfulAdditions(
  observed: ReadonlyMap<string, Finding>,
  expected: ReadonlyMap<string, Finding>,
  fixes: readonly SimulatedFix[],
  evaluate: (effects: readonly PlacedEffect[]) => EvaluatedEffects,
  harms: Map<Finding, Harm>,
): void {
  let added: readonly SimulatedFix[] = [];
  for (const fix of fixes) {
    const together = [...added, fix];
    const harm = harmOfAll(observed, expected, together, evaluate);
    if (harm === undefined) {
      added = together;
      continue;
    }
    const isOwn = harm.kind === 'worse' && harm.findings.some((one) => findingKey(one) === findingKey(fix.finding));
    const without = (other: SimulatedFix) => together.filter((one) => one !== other);
    const culprit = isOwn
      ? added.find((one) => harmOfAll(observed, expected, without(one), evaluate) === undefined)
      : undefined;
    harms.set((culprit ?? fix).finding, harm);
    added = without(culprit ?? fix);
  }
}

/** The fix as the report has it. */
function reportedFix(finding: Finding, harm: Harm | undefined): Fix {
  const { effects, ...fix } = finding.fix!;
  if (!isInFixScript(finding)) return fix;
  if (harm === undefined) return { ...fix, simulated: effects !== undefined };
  const worsens = harm.kind === 'worse' ? { worsens: [...new Set(harm.findings.map(({ id }) => id))] } : {};
  return { ...(fix.by === undefined ? {} : { by: fix.by }), ...worsens, text: `${harmText(harm)} ${fix.text}` };
}

function harmText(harm: Harm): string {
  switch (harm.kind) {
    case 'worse':
      return `Not written to the fix script, because it would make another finding worse: ${harm.findings
        .slice(0, 3)
        .map(({ id, headline, observed }) => `${id} (${headline}: ${observed})`)
        .join(', ')}.`;
    case 'start':
      return `Not written to the fix script, because the server would not start: ${harm.why}.`;
    case 'conflict':
      return harm.isCorrected
        ? `The fix of ${harm.with} corrects this too.`
        : `Not written to the fix script, because the fix of ${harm.with} sets another value.`;
    default:
      return harm satisfies never;
  }
}

function withoutEffects(finding: Finding): Finding {
  if (finding.fix?.effects === undefined) return finding;
  const { effects: _effects, ...fix } = finding.fix;
  return { ...finding, fix };
}
