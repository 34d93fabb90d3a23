import { describe, expect, it } from 'vitest';
import { renderReport } from '../../../src/preflight/formats/render-report.ts';
import { textReport } from '../../../src/preflight/formats/text-report.ts';
import { findings, report } from '../sample.ts';

const same = (text: string): string => text;
const ink = { bold: same, dim: same, red: (text: string) => `<${text}>`, yellow: same };

describe('the report on a terminal', () => {
  const text = textReport(report, ink, undefined);

  it('begins with the verdict, then the databases, then what to look at', () => {
    const order = [
      'Only a point-in-time dump would work.',
      'Databases',
      'unknown: version-not-newer',
      '<fail:> wal-level (blocks continuous)',
      'warn: hba-rule',
    ];
    const places = order.map((part) => text.indexOf(part));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('leaves out what passed, was skipped or only informs', () => {
    for (const id of ['superuser', 'rls', 'matviews']) expect(text).not.toContain(`: ${id}`);
  });

  it('tells which databases to leave out, if that would do', () => {
    const advised = { ...report, advice: { ignore_dbs: ['My-DB', 'old'], verdict: 'continuous' as const } };
    expect(textReport(advised, ink, undefined)).toContain(
      'Without My-DB, old the continuous migration is possible: --ignore-dbs My-DB,old',
    );
    for (const file of ['a.md', 'a.html'])
      expect(renderReport(file, advised, '1')).toContain('the continuous migration is possible');
    expect(text).not.toContain('--ignore-dbs');
  });

  it('paints a blocker and says when a restart follows', () => {
    expect(text).toContain(
      '<fail:> wal-level (blocks continuous)\n  wanted: wal_level is logical\n  observed: replica; required: logical',
    );
    expect(text).toContain('cure: Set wal_level to logical. (restart)');
  });

  it('names every object that a finding has, since the rest is counted in its words', () => {
    const unlogged = findings.find(({ id }) => id === 'unlogged')!;
    const objects = Array.from({ length: 20 }, (_, at) => `public.t${at}`);
    const told = textReport({ ...report, findings: [{ ...unlogged, objects }] }, ink, undefined);
    expect(told).toContain(objects.join(', '));
  });

  it('tells the same finding of many databases once', () => {
    const unlogged = findings.find(({ id }) => id === 'unlogged')!;
    const many = Array.from({ length: 9 }, (_, at) => ({ ...unlogged, database: `d${at}` }));
    const told = textReport({ ...report, findings: many }, ink, undefined);
    expect(told.match(/warn: unlogged/g)).toHaveLength(1);
    expect(told).toContain('in d0, d1, d2, d3, d4 and 4 more');
  });

  it('prints no control character of a name or a message of the source', () => {
    const [first] = findings;
    const nasty = '\u001b[2J\u202eevil\u0007';
    const [one] = report.databases;
    const told = textReport(
      {
        ...report,
        databases: [{ ...one!, name: nasty }],
        data_loss: [nasty],
        findings: [{ ...first!, observed: nasty, detail: `a\n${nasty}`, objects: [nasty], database: nasty }],
      },
      ink,
      [{ id: 'x', database: nasty }],
    );
    expect(told).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(told.match(/evil/g)?.length).toBeGreaterThan(5);
  });

  it('says for which databases a finding of the server counts', () => {
    const [first] = findings;
    expect(textReport({ ...report, findings: [{ ...first!, only: ['a', 'b'] }] }, ink, undefined)).toContain('in a, b');
  });

  it('names at most 40 databases', () => {
    const [one] = report.databases;
    const told = textReport({ ...report, databases: Array.from({ length: 200 }, () => one!) }, ink, undefined);
    expect(told).toContain('and 160 more');
  });

  it('tells what changed since the baseline', () => {
    const change = {
      id: 'wal-level',
      before: { status: 'fail', observed: 'replica' },
      after: { status: 'pass' as const, observed: 'logical' },
    };
    expect(textReport(report, ink, [change])).toContain('wal-level: fail (replica) -> pass (logical)');
    expect(textReport(report, ink, [])).toContain('Nothing changed since the baseline.');
  });
});
