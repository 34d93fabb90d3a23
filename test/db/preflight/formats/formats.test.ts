import { describe, expect, it } from 'vitest';
import { modelOf } from '../../../../src/db/preflight/formats/model.ts';
import { pageStyle } from '../../../../src/db/preflight/formats/page.ts';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { renderReport, reportExtensions } from '../../../../src/db/preflight/run-with-files.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { validReport } from '../../../fixtures/report-schema.ts';
import { findings, report } from '../sample.ts';
import { onTerminal, rendered, wordsOfFormat } from './words.ts';

describe('the report as', () => {
  it.each(reportExtensions)('%s is chosen by the file extension', (extension) => {
    const text = rendered(`REPORT${extension.toUpperCase()}`, report) ?? '';
    const words = wordsOfFormat[extension];
    if (words === undefined) expect(validReport(JSON.parse(text))).toEqual(report);
    else expectGolden('db-preflight-reports', words(text));
  });

  it.each(['md', 'html'])('%s states once whether rows were read, and which were not', (extension) => {
    const body = (rows: PreflightReport['rows']) =>
      rendered(`a.${extension}`, { ...report, ...(rows === undefined ? {} : { rows }) }) ?? '';
    expect(body({ state: 'not_read' }).split('--deep')).toHaveLength(2);
    expect(body(report.rows).split('no privilege')).toHaveLength(2);
  });

  it('rows are stated on the terminal', () => {
    const { rows, ...redis } = report;
    const text = (one: PreflightReport) => onTerminal({ ...one, findings: [] });
    expect(text({ ...report, rows: { state: 'not_read' } }).split('--deep')).toHaveLength(2);
    expect(text(redis)).not.toContain('--deep');
    const all = { ...rows, state: 'read', not_read: [], keys_not_compared: [], tables: 0, rows: 0, bytes: 0 } as const;
    for (const one of [{ state: 'not_read' } as const, all, rows]) {
      expectGolden(
        'db-preflight-reports',
        modelOf(one === undefined ? redis : { ...report, rows: one }).rows.join('\n'),
        one?.state,
      );
    }
  });

  it('another file extension has no format', () => {
    expect(renderReport('report.pdf', modelOf(report), '1.2.3')).toBeUndefined();
  });

  it('a range with equal ends is one value', () => {
    const estimate = { ...report.estimate, seconds_low: 0.2, seconds_high: 0.9 };
    const even = rendered('a.md', { ...report, estimate }) ?? '';
    expect(even).toMatch(/about 1 s$/m);
  });

  it.each(['a.json', 'a.sarif'])('%s has the real names, escaped where they change the direction of text', (file) => {
    const name = 'public."safe\u202e\u2066evil\u200b"';
    const one = { ...findings[0]!, observed: name, objects: [name] };
    const text = rendered(file, { ...report, findings: [one] }) ?? '';
    expect(text).not.toMatch(/[\p{Cf}\u2028\u2029]/u);
    expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(name).slice(1, -1));
  });

  it('HTML has no script, no external resource and no markup of the source', () => {
    const html = rendered('a.html', report);
    expect(html).not.toMatch(/<script|<link|<img|src=|@import|url\(/i);
    expect(html).not.toContain('<b>Table</b>');
    expect(html).toContain("default-src 'none'");
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    const [links, ids] = [/ href="#([^"]*)"/g, / id="([^"]*)"/g].map((pattern) => html.matchAll(pattern));
    const places = [...(ids ?? [])].map(([, id]) => id);
    for (const [, link] of links ?? []) expect(places).toContain(link);
  });

  it('HTML has the verdict first and the findings by severity', () => {
    const html = rendered('a.html', report);
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
    const markdown = rendered('a.md', { ...report, databases: names }) ?? '';
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
  const text = onTerminal(open);
  expectGolden('db-preflight-reports', text.split('\n\n').slice(0, 4).join('\n\n'), 'text');
  for (const one of [rendered('a.md', open), rendered('a.html', open)])
    for (const { condition } of premises) expect(one).toContain(condition);
});

it('checks that were skipped for one reason are one row of the HTML report', () => {
  const skipped = ['a-one', 'b-two', 'c-three'].map((id) => ({
    ...{ id, title: `${id} is fine`, headline: `${id} is not`, scope: 'server' as const, status: 'skip' as const },
    ...{ blocks: [], observed: 'no session <x>' },
  }));
  const html = rendered('a.html', { ...report, findings: [...report.findings, ...skipped] });
  expect(html.match(/no session &lt;x&gt;/g)).toHaveLength(1);
  for (const { id } of skipped) expect(html).toContain(id);
});

describe('checks that answer whether the target evaluates expressions as the source did', () => {
  const ids = [
    'setting-checks',
    'session-checks',
    'reading-checks',
    'reading-functions',
    'function-results',
    'table-oids',
  ];
  const unknown = findings.find(({ status }) => status === 'unknown')!;
  const own = ids.map((id) => ({
    ...unknown,
    id,
    title: `title of ${id}`,
    observed: `seen by ${id}`,
    objects: [`t_${id}`],
  }));
  const premises = own.map(({ id, title }) => ({ id, condition: title, settled_by: 'cloudctl db rehearse' }));
  const doubtful = { ...report, ok: true, proven: false, premises, findings: own };

  it.each([
    ['md', /^### /gm],
    ['html', /<section class="finding /g],
  ])('are one finding in %s, with the objects by reason', (extension, heads) => {
    const text = rendered(`a.${extension}`, doubtful).replaceAll('\\', '');
    expect(text.match(heads)).toHaveLength(1);
    const places = ids.flatMap((id) => [`(${id})`, `seen by ${id}`, `t_${id}`].map((part) => text.indexOf(part)));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(text).not.toContain('title of');
    expectGolden('db-preflight-reports', wordsOfFormat[`.${extension}`]?.(text) ?? '', extension);
  });

  it('are one premise of the verdict', () => {
    expect(modelOf(doubtful).sentence.match(/ if /g)).toHaveLength(1);
    const accepted = modelOf({
      ...doubtful,
      findings: own.map((one, at) => (at === 0 ? { ...one, accepted: true } : one)),
    });
    expect(accepted.problems.map((one) => one.ids.length)).toEqual([1, 5]);
  });

  it('are one blocker, and results for programs of their own', () => {
    const failed = own.map((one) => ({ ...one, status: 'fail' as const, blocks: [report.method] }));
    const one = { ...report, findings: failed };
    expectGolden('db-preflight-reports', onTerminal(one).split('\n\n').slice(0, 3).join('\n\n'), 'blocked');
    expect(onTerminal(one).match(/^<fail:>/gm)).toHaveLength(1);
    for (const file of ['a.xml', 'a.sarif']) expect(rendered(file, one).match(/seen by/g)).toHaveLength(ids.length);
  });

  it('keep their own words alone, and where they passed', () => {
    const passed = { ...own[1]!, status: 'pass' as const };
    const { problems, others } = modelOf({ ...doubtful, premises: premises.slice(0, 1), findings: [own[0]!, passed] });
    expect(problems.map((one) => one.title)).toEqual([expect.stringContaining('title of setting-checks')]);
    expect(others.map((one) => one.ids)).toEqual([['session-checks']]);
  });
});

it('the style of the page loads nothing, and every rule is closed', () => {
  expect(pageStyle).not.toMatch(/url\(|@import|<\//);
  expect(pageStyle.split('{')).toHaveLength(pageStyle.split('}').length);
});
