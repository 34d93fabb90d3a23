import type { Violation } from '../../src/watch/status-sample.ts';

/** All texts of violations, for golden files. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ rule, observed, hint }) => `${rule}: ${observed}\nhint: ${hint}`).join('\n');
}
