import { expect, test } from 'vitest';
import { sentenceAfterFixes, verdictAfterFixes } from '../../../src/db/preflight/verdict.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { rendered } from './formats/words.ts';
import { findings, report } from './sample.ts';

test('the reasons are findings that block a method and are not accepted', () => {
  const accepted = findings.map((one) => (one.id === 'wal-level' ? { ...one, accepted: true } : one));
  const conclusion = { verdict: 'dump', ok: false, proven: true, findings: accepted } as const;
  const after = verdictAfterFixes({ ...report, ...conclusion }, ['hba-rule']);
  expect(after).toMatchObject({ verdict: 'dump', ok: false, proven: true, not_simulated: ['hba-rule'] });
  expect(after.reasons).toContain('slots-free');
  expect(after.reasons).not.toContain('wal-level');
});

test('the sentence names what still blocks and what was not simulated', () => {
  const none = { verdict: 'continuous', ok: true, proven: true, reasons: [], not_simulated: [] } as const;
  const sentences = [report, { ...report, verdict_after_fixes: none }].map(sentenceAfterFixes);
  expectGolden('db-preflight-reports', sentences.join('\n'));
  const { verdict_after_fixes: _after, ...without } = report;
  expect(sentenceAfterFixes(without)).toBeUndefined();
});

test('every format for people has it, and JSON has its fields', () => {
  for (const file of ['a.md', 'a.html']) expect(rendered(file, report)).toContain('tablespaces');
  expect(JSON.parse(rendered('a.json', report))).toMatchObject({
    verdict_after_fixes: report.verdict_after_fixes,
  });
});
