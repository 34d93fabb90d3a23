import type { PreflightReport, VerdictAfterFixes } from './report.ts';
import type { ReportConclusion } from './verdict.ts';

/** What remains after the fix script. Findings whose statements were not simulated are as before. */
export function describeVerdictAfterFixes(
  { verdict, ok, proven, findings }: ReportConclusion,
  notSimulated: readonly string[],
): VerdictAfterFixes {
  const blockers = findings.filter(
    ({ status, blocks, accepted }) => status === 'fail' && blocks.length > 0 && accepted !== true,
  );
  return { verdict, ok, proven, reasons: [...new Set(blockers.map(({ id }) => id))], not_simulated: notSimulated };
}

/** `Verdict after the fix script: dump (tablespaces). Not simulated: …`; undefined: there is no script. */
export function verdictAfterFixesSentence({ verdict_after_fixes: after }: PreflightReport): string | undefined {
  if (after === undefined) return undefined;
  const { verdict, proven, reasons, not_simulated: rest } = after;
  const because = reasons.length === 0 ? '' : `, because of ${reasons.join(', ')}`;
  return [
    `Verdict after the fix script: ${verdict}${because}${proven ? '' : ' (not proven)'}.`,
    ...(rest.length === 0 ? [] : [`Not simulated, so counted as not fixed: ${rest.join(', ')}.`]),
  ].join(' ');
}
