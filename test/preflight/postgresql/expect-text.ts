import { expect } from 'vitest';
import type { PreflightCheckOutcome } from '../../../src/preflight/finding.ts';
import { expectGolden } from '../../fixtures/golden.ts';

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

/** Compares everything that a report prints of an outcome, except the statements of its fix. */
export function expectOutcomeText({ headline, observed, required, detail, fix }: PreflightCheckOutcome): void {
  const parts = { headline, observed, required, detail, fix: fix?.text, by: fix?.by };
  const lines = Object.entries(parts).flatMap(([name, text]) => (text === undefined ? [] : [`${name}: ${text}`]));
  expectText(lines.join('\n'));
}
