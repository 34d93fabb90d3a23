import type { Violation } from '../../../src/db/watch/sample.ts';

/** All texts of violations, for golden files. */
export function describeViolations(violations: readonly Violation[]): string {
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
