import { expect, it } from 'vitest';
import { renderSourceInventoryReport } from '../../../src/inventory/formats/render-source-inventory-report.ts';
import { renderTextSourceInventory } from '../../../src/inventory/formats/render-text-source-inventory.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { databaseFinding, outcome, reportOf, sampleOutcomes, serverFinding, unreachable } from '../outcomes.ts';

const plain = (text: string) => text;
const styles = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

it('the text has the result, what to fix first, what was not checked, and each finding once', () => {
  const text = renderTextSourceInventory(reportOf(sampleOutcomes()), styles);
  expectGolden('db-inventory', text);
  expect(text.split('\n').length).toBeLessThan(40);
});

it('the Markdown has a row for each source', () => {
  const changed = { ...outcome(4, 's3'), changes: ['wal-level: pass before'] };
  const outcomes = [outcome(1, 's1', [serverFinding('wal-level')]), outcome(2, 's2'), unreachable(3), changed];
  expectGolden('db-inventory', renderSourceInventoryReport('r.md', reportOf(outcomes)) ?? '');
  expectGolden('db-inventory', renderTextSourceInventory(reportOf(outcomes), styles), 'text');
});

it('an inventory whose sources are all possible has no fixes', () => {
  const report = reportOf([outcome(1, 's1'), outcome(2, 's2')]);
  expectGolden('db-inventory', renderTextSourceInventory(report, styles));
  expect(renderSourceInventoryReport('r.html', report)).not.toContain('id="fix-first"');
});

it('the HTML has ids once, and no script', () => {
  const one = serverFinding('wal-level');
  const html = renderSourceInventoryReport(
    'r.HTML',
    reportOf([...sampleOutcomes(), outcome(999, 'x', [{ ...one, title: 'Other' }])]),
  );
  const ids = [...(html ?? '').matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(html).not.toMatch(/<script|javascript:/);
});

it('names and messages of a server change nothing in any format', () => {
  const evil = '\u001b[2J<img src=x onerror=alert(1)>|`\u202e\n# x';
  const finding = databaseFinding('replica-identity', evil, {
    observed: evil,
    title: evil,
    fix: { text: evil, sql: [evil] },
  });
  const report = reportOf([{ ...outcome(1, 's', [finding]), name: evil, changes: [evil] }, unreachable(2, evil)]);
  for (const text of [
    renderTextSourceInventory(report, styles),
    ...['r.html', 'r.md', 'r.json'].map((file) => renderSourceInventoryReport(file, report) ?? ''),
  ]) {
    expect(text).not.toMatch(/[\u001b\u202e]/);
  }
  expect(renderTextSourceInventory(report, styles)).not.toMatch(/^# x/m);
  expect(renderSourceInventoryReport('r.md', report)).not.toMatch(/^# x/m);
  expect(renderSourceInventoryReport('r.html', report)).not.toContain('<img');
  expect(renderSourceInventoryReport('r.xml', report)).toBeUndefined();
});
