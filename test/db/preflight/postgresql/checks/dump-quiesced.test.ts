import { expect, test } from 'vitest';
import { dumpQuiescedCheck } from '../../../../../src/db/preflight/postgresql/checks/dump-quiesced.ts';
import { expectText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

test('writes on the source are a warning when a dump was requested', () => {
  const busy = sourceFacts({ walRate: { bytes: 1e6, seconds: 5 } });
  expect(short(dumpQuiescedCheck.evaluate({ transactions: [] }, busy, preflightOptions({ method: 'dump' })))).toBe(
    'warn',
  );
  expect(short(dumpQuiescedCheck.evaluate({ transactions: [] }, busy, preflightOptions()))).toBe('info');
  expect(
    short(dumpQuiescedCheck.evaluate({ transactions: [] }, sourceFacts(), preflightOptions({ method: 'dump' }))),
  ).toBe('pass');
  expect(
    short(dumpQuiescedCheck.evaluate({ transactions: [] }, sourceFacts({ walRate: undefined }), preflightOptions())),
  ).toBe('skip');
});

test('a few seconds without writes do not stand for applications that are stopped', () => {
  expectText(dumpQuiescedCheck.evaluate({ transactions: [] }, sourceFacts(), preflightOptions()).detail);
});
