import type { PreflightReport, PreflightVerdictAfterFixes } from './report.ts';
import type { PreflightConclusion } from './verdict.ts';

/** The verdict after a run of the fix script. Findings whose fix was not simulated count as not fixed. */
export function buildVerdictAfterFixes(
  { verdict, ok, proven, findings }: PreflightConclusion,
  notSimulated: readonly string[],
): PreflightVerdictAfterFixes {
  const blockers = findings.filter(
    ({ status, blocks, accepted }) => status === 'fail' && blocks.length > 0 && accepted !== true,
  );
  return { verdict, ok, proven, reasons: [...new Set(blockers.map(({ id }) => id))], not_simulated: notSimulated };
}

/**
 * The verdict after the fix script as one sentence, for example `Verdict after the fix script: dump (tablespaces). Not
 * simulated: …`; undefined if there is no script.
 */
export function verdictAfterFixesSentence({ verdict_after_fixes: after }: PreflightReport): string | undefined {
  if (after === undefined) return undefined;
  const { verdict, proven, reasons, not_simulated: rest } = after;
  const because = reasons.length === 0 ? '' : `, because of ${reasons.join(', ')}`;
  return [
    `Verdict after the fix script: ${verdict}${because}${proven ? '' : ' (not proven)'}.`,
    ...(rest.length === 0
      ? []
      : [`Findings that count as not fixed, because their fixes were not simulated: ${rest.join(', ')}.`]),
  ].join(' ');
}
