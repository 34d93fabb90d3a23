import type { CheckOutcome } from '../../../src/db/preflight/finding.ts';

/** The words of an outcome that a report prints, one part a line. Its status, objects and statements are values for a test. */
export function outcomeText(outcome: CheckOutcome): string {
  const { headline, observed, required, detail, premise, settledBy, dataLoss, fix } = outcome;
  const parts = {
    headline,
    observed,
    required,
    detail,
    premise,
    'settled by': settledBy,
    'data loss': dataLoss,
    fix: fix?.text,
    by: fix?.by,
    'not simulated': fix?.notSimulated,
  };
  return Object.entries(parts)
    .flatMap(([name, text]) => (text === undefined ? [] : [`${name}: ${text}`]))
    .join('\n');
}
