import { describe, expect, it } from 'vitest';
import { renderMarkdownPreflightReport } from '../../../../src/db/preflight/formats/markdown-report.ts';
import {
  preflightReportFileExtensions,
  renderHtmlPreflightReport,
  renderPreflightReport,
} from '../../../../src/db/preflight/formats/render-report.ts';

import { formatRowReadSummaryLines } from '../../../../src/db/preflight/formats/report-text.ts';
import { renderTextPreflightReport } from '../../../../src/db/preflight/formats/text-report.ts';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { validReport } from '../../../fixtures/report-schema.ts';
import { findings, report } from '../sample.ts';
import { wordsOfFormat } from './words.ts';

describe('the report as', () => {
  it.each(preflightReportFileExtensions)('%s is chosen by the file extension', (extension) => {
    const text = renderPreflightReport(`REPORT${extension.toUpperCase()}`, report, '1.2.3') ?? '';
    const words = wordsOfFormat[extension];
    if (words === undefined) expect(validReport(JSON.parse(text))).toEqual(report);
    else expectGolden('db-preflight-reports', words(text));
  });

  it.each(['md', 'html'])('%s states once whether rows were read, and which were not', (extension) => {
    const body = (rows: PreflightReport['rows']) =>
      renderPreflightReport(`a.${extension}`, { ...report, ...(rows === undefined ? {} : { rows }) }, '1') ?? '';
    expect(body({ state: 'not_read' }).split('--deep')).toHaveLength(2);
    expect(body(report.rows).split('no privilege')).toHaveLength(2);
  });

  it('rows are stated on the terminal', () => {
    const same = (text: string): string => text;
    const styles = { bold: same, dim: same, red: same, yellow: same };
    const { rows, ...redis } = report;
    const text = (one: PreflightReport) => renderTextPreflightReport({ ...one, findings: [] }, styles);
    expect(text({ ...report, rows: { state: 'not_read' } }).split('--deep')).toHaveLength(2);
    expect(text(redis)).not.toContain('--deep');
    const all = { ...rows, state: 'read', not_read: [], keys_not_compared: [], tables: 0, rows: 0, bytes: 0 } as const;
    for (const one of [{ state: 'not_read' } as const, all, rows]) {
      expectGolden(
        'db-preflight-reports',
        formatRowReadSummaryLines(one === undefined ? {} : { rows: one }).join('\n'),
        one?.state,
      );
    }
  });

  it('another file extension has no format', () => {
    expect(renderPreflightReport('report.pdf', report, '1.2.3')).toBeUndefined();
  });

  it('a range with equal ends is one value', () => {
    const estimate = { ...report.estimate, seconds_low: 0.2, seconds_high: 0.9 };
    const even = renderPreflightReport('a.md', { ...report, estimate }, '1') ?? '';
    expect(even).toMatch(/about 1 s$/m);
  });

  it.each(['a.json', 'a.sarif'])('%s has the real names, escaped where they change the direction of text', (file) => {
    const name = 'public."safe\u202e\u2066evil\u200b"';
    const one = { ...findings[0]!, observed: name, objects: [name] };
    const text = renderPreflightReport(file, { ...report, findings: [one] }, '1') ?? '';
    expect(text).not.toMatch(/[\p{Cf}\u2028\u2029]/u);
    expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(name).slice(1, -1));
  });

  it('HTML has no script, no external resource and no markup of the source', () => {
    const html = renderHtmlPreflightReport(report);
    expect(html).not.toMatch(/<script|<link|<img|src=|@import|url\(/i);
    expect(html).not.toContain('<b>Table</b>');
    expect(html).toContain("default-src 'none'");
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    const [links, ids] = [/ href="#([^"]*)"/g, / id="([^"]*)"/g].map((pattern) => html.matchAll(pattern));
    const places = [...(ids ?? [])].map(([, id]) => id);
    for (const [, link] of links ?? []) expect(places).toContain(link);
  });

  it('HTML has the verdict first and the findings by severity', () => {
    const html = renderHtmlPreflightReport(report);
    const order = [
      '<h1>',
      'What blocks the continuous migration',
      'What to run',
      'finding unknown',
      'finding fail',
      'finding warn',
      '<h2>Databases</h2>',
      '<summary>Fix script',
      '<code class="soft">matviews</code>',
    ];
    const places = order.map((text) => html.indexOf(text));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places.every((place) => place > 0)).toBe(true);
  });

  it('Markdown escapes names in tables and code spans', () => {
    const names = [{ ...report.databases[0]!, name: 'a|b`c``d\ne' }];
    const markdown = renderPreflightReport('a.md', { ...report, databases: names }, '1') ?? '';
    expect(markdown).toContain('| ``` a\\|b`c``d e ``` | dump |');
  });
});

it('names the open premises with what settles them', () => {
  const premises = [
    {
      id: 'version-not-newer',
      condition: 'the source is not newer than the target',
      settle: 'Provide --target-version.',
      settled_by: '--target-version',
    },
    {
      id: 'extensions',
      condition: 'the target provides every extension',
      databases: ['a', 'b'],
      settled_by: '--target-extensions',
    },
    { id: 'rls', condition: 'no row is hidden', databases: ['a'], settled_by: 'cloudctl db rehearse', accepted: true },
  ];
  const open = { ...report, verdict: 'continuous', proven: false, premises } as const;
  const plain = (text: string) => text;
  const text = renderTextPreflightReport(open, { bold: plain, dim: plain, red: plain, yellow: plain }, undefined);
  expectGolden('db-preflight-reports', text.split('\n\n').slice(0, 4).join('\n\n'), 'text');
  for (const one of [renderMarkdownPreflightReport(open), renderHtmlPreflightReport(open)])
    for (const { condition } of premises) expect(one).toContain(condition);
});

it('checks that were skipped for one reason are one row of the HTML report', () => {
  const skipped = ['a-one', 'b-two', 'c-three'].map((id) => ({
    ...{ id, title: `${id} is fine`, headline: `${id} is not`, scope: 'server' as const, status: 'skip' as const },
    ...{ blocks: [], observed: 'no session <x>' },
  }));
  const html = renderHtmlPreflightReport({ ...report, findings: [...report.findings, ...skipped] });
  expect(html.match(/no session &lt;x&gt;/g)).toHaveLength(1);
  for (const { id } of skipped) expect(html).toContain(id);
});
