import type { WatchRuleViolation } from '../../../src/db/watch/status-sample.ts';

/** All texts of violations, for golden files. */
export function describeViolations(violations: readonly WatchRuleViolation[]): string {
  return violations
    .map(({ rule, observed, hint, fix }) =>
      [
        `${rule}: ${observed}`,
        `hint: ${hint}`,
        ...(fix === undefined ? [] : [`fix on ${fix.run_on}: ${fix.statement}`]),
      ].join('\n'),
    )
    .join('\n');
}
