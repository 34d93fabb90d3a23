import { expect, test } from 'vitest';
import { targetEmptyCheck } from '../../../../../src/db/preflight/postgresql/checks/target-empty.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'a target that was not read', contents: undefined, verdict: 'skip' },
  { what: 'tables in another database', contents: [{ database: 'other', reason: 'it contains t' }], verdict: 'pass' },
  { what: 'tables in the database', contents: [{ database: 'd1', reason: 'it contains t' }], verdict: 'warn' },
])('$what: $verdict', ({ contents, verdict }) => {
  const options = preflightOptions({ target: { host: 'staging', port: 5432, ...(contents && { contents }) } });
  expect(short(targetEmptyCheck.evaluate({}, 'd1', sourceFacts(), options))).toBe(verdict);
});
