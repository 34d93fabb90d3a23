import { expect, test } from 'vitest';
import { renderPreflightReport } from '../../../src/db/preflight/formats/render-report.ts';
import { buildVerdictAfterFixes, verdictAfterFixesSentence } from '../../../src/db/preflight/verdict-after-fixes.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { findings, report } from './sample.ts';

test('the reasons are findings that block a method and are not accepted', () => {
  const accepted = findings.map((one) => (one.id === 'wal-level' ? { ...one, accepted: true } : one));
  const conclusion = { verdict: 'dump', ok: false, proven: true, findings: accepted } as const;
  const after = buildVerdictAfterFixes({ ...report, ...conclusion }, ['hba-rule']);
  expect(after).toMatchObject({ verdict: 'dump', ok: false, proven: true, not_simulated: ['hba-rule'] });
  expect(after.reasons).toContain('slots-free');
  expect(after.reasons).not.toContain('wal-level');
});

test('the sentence names what still blocks and what was not simulated', () => {
  const none = { verdict: 'continuous', ok: true, proven: true, reasons: [], not_simulated: [] } as const;
  const sentences = [report, { ...report, verdict_after_fixes: none }].map(verdictAfterFixesSentence);
  expectGolden('db-preflight-reports', sentences.join('\n'));
  const { verdict_after_fixes: _after, ...without } = report;
  expect(verdictAfterFixesSentence(without)).toBeUndefined();
});

test('every format for people has it, and JSON has its fields', () => {
  for (const file of ['a.md', 'a.html']) expect(renderPreflightReport(file, report, '1')).toContain('tablespaces');
  expect(JSON.parse(renderPreflightReport('a.json', report, '1') ?? '')).toMatchObject({
    verdict_after_fixes: report.verdict_after_fixes,
  });
});
