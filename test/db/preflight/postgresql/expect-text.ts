import { expect } from 'vitest';
import type { CheckOutcome } from '../../../../src/db/preflight/finding.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { outcomeText } from '../outcome-text.ts';

/** How many texts the running test has compared: each needs a name of its own. */
let counted = { test: '', texts: 0 };

/** Compares one text of a check with the golden file; several calls in one test are numbered. */
export function expectText(text: string | undefined): void {
  const { currentTestName = '', testPath = '' } = expect.getState();
  const test = `${testPath} ${currentTestName}`;
  counted = { test, texts: counted.test === test ? counted.texts + 1 : 1 };
  expect(text).toBeTypeOf('string');
  expectGolden('db-preflight', text ?? '', counted.texts === 1 ? undefined : String(counted.texts));
}

/** Compares the words that a report prints of an outcome. */
export function expectOutcomeText(outcome: CheckOutcome): void {
  expectText(outcomeText(outcome));
}
