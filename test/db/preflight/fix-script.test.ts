import { describe, expect, it } from 'vitest';
import { fixSections, renderFixScript, renderUndoScript, undoSections } from '../../../src/db/preflight/fix-script.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { findings, report } from './sample.ts';

describe('the fix script', () => {
  it('names who runs each section, and has one restart at the end', () => {
    const sections = fixSections(report);
    expect(sections.map(({ kind, by, database, isOptional }) => [kind, by, database, isOptional])).toEqual([
      ['sql', 'the owner', 'My-DB "x" \\ \'y\'', false],
      ['sql', 'a superuser', undefined, false],
      ['restart', expect.any(String), undefined, false],
      ['shell', 'whoever administers the server', undefined, true],
      ['reload', 'a superuser', undefined, true],
    ]);
    expectGolden('db-preflight-reports', renderFixScript(report) ?? '');
  });

  it('sets a numeric setting once, to the largest value that a finding needs', () => {
    expect(fixSections(report)[1]?.lines).toEqual([
      "ALTER SYSTEM SET wal_level = 'logical'",
      'ALTER SYSTEM SET max_replication_slots = 12',
    ]);
  });

  it('connects to a database of any name', () => {
    expect(renderFixScript(report)).toContain(
      "\n\\connect -reuse-previous=on 'postgresql:///My%2DDB%20%22x%22%20%5C%20%27y%27'\n",
    );
  });

  it('has no characters in its comments that change the direction of text', () => {
    const [first] = findings;
    const odd = { ...first!, fix: { ...first!.fix!, by: 'owner \u202e of \u2028 all', database: 'd\u202e1' } };
    const comments = (renderFixScript({ ...report, findings: [odd] }) ?? '')
      .split('\n')
      .filter((line) => line.startsWith('--'));
    expect(comments.join('\n')).not.toMatch(/[\p{Cf}\u2028\u2029]/u);
    expect(comments.join('\n')).toContain('in database d\ufffd1');
  });

  it('leaves what no client can run in comments', () => {
    const lines = (renderFixScript(report) ?? '').split('\n');
    const live = lines.filter((line) => line !== '' && !line.startsWith('--') && !line.startsWith('\\'));
    expect(live.every((line) => /^[\x20-\x7e]*;$/.test(line))).toBe(true);
    expect(lines.some((line) => line.startsWith('--   host all mover 0.0.0.0/0'))).toBe(true);
  });

  it('reloads once when nothing needs a restart', () => {
    const [rule] = findings.filter(({ id }) => id === 'hba-rule');
    const reloading = { ...report, findings: [{ ...rule!, status: 'fail' as const, blocks: ['continuous' as const] }] };
    expect(fixSections(reloading).map(({ kind }) => kind)).toEqual(['shell', 'reload_by_hand']);
    const script = renderFixScript(reloading) ?? '';
    // A reload before the steps on the server has no effect, so the script does nothing at all.
    expect(script.split('\n').filter((line) => line !== '' && !line.startsWith('--'))).toEqual([]);
    expect(script).toContain('pg_reload_conf');
    const setting = {
      ...rule!,
      id: 'other',
      status: 'fail',
      blocks: ['continuous'],
      fix: { sql: ['SELECT 1'], reload: true, text: '' },
    } as const;
    const both = renderFixScript({ ...reloading, findings: [...reloading.findings, setting] });
    expect(both).toContain('\nSELECT pg_catalog.pg_reload_conf();\n');
  });

  it('has what does not block the method as comments, at the end', () => {
    const lines = (renderFixScript(report) ?? '').split('\n');
    const optional = lines.slice(lines.findIndex((line) => line.startsWith('-- Optional:')));
    expect(optional.length).toBeGreaterThan(3);
    expect(optional.filter((line) => line !== '' && !line.startsWith('-- '))).toEqual([]);
    expect(optional).toContain('--   SELECT pg_catalog.pg_reload_conf();');
    expect(lines.filter((line) => line.includes('pg_reload_conf'))).toHaveLength(1);
  });

  it('is all comments when nothing with a fix blocks the method', () => {
    const warned = { ...report, findings: findings.filter(({ status }) => status === 'warn') };
    const lines = (renderFixScript(warned) ?? '').split('\n');
    expect(lines.filter((line) => line !== '' && !line.startsWith('-- '))).toEqual([]);
    expectGolden('db-preflight-reports', lines.join('\n'));
  });

  it('writes the configuration of Redis once, after all changes', () => {
    const withFix = (id: string, set: string) => ({
      ...findings[0]!,
      id,
      fix: { sql: [set, 'CONFIG REWRITE'], text: 'Set it.' },
    });
    const redis = {
      ...report,
      engine: 'redis' as const,
      findings: [withFix('a', 'CONFIG SET x 1'), withFix('b', 'CONFIG SET y 2')],
    };
    expect(fixSections(redis)[0]?.lines).toEqual(['CONFIG SET x 1', 'CONFIG SET y 2', 'CONFIG REWRITE']);
  });

  it('begins each session with the same settings', () => {
    const lines = (renderFixScript(report) ?? '').split('\n');
    const after = lines.flatMap((line, at) => (line.startsWith('\\connect ') ? [lines.slice(at + 1, at + 6)] : []));
    expect(after).toEqual([
      [
        '\\encoding UTF8',
        'SET role = none;',
        'SET default_transaction_read_only = off;',
        'SET search_path = pg_catalog, pg_temp;',
        "SET lock_timeout = '2s';",
      ],
    ]);
  });

  it('omits accepted findings', () => {
    const accepted = findings.map((finding) => ({ ...finding, accepted: true }));
    expect(fixSections({ ...report, findings: accepted })).toEqual([]);
    expect(undoSections({ ...report, findings: accepted })).toEqual([]);
  });

  it('is not there when nothing is to be fixed', () => {
    expect(
      renderFixScript({ ...report, findings: findings.filter(({ status }) => status === 'pass') }),
    ).toBeUndefined();
  });

  it('a database name with a line end stays inside its comment', () => {
    const odd = findings.map((finding) =>
      finding.fix?.database === undefined
        ? finding
        : { ...finding, fix: { ...finding.fix, database: 'a\n\\! rm -rf x' } },
    );
    const lines = (renderFixScript({ ...report, findings: odd }) ?? '').split('\n');
    expect(lines.filter((line) => line.startsWith('\\!'))).toEqual([]);
  });
});

describe('the undo script', () => {
  it('restores the observed values, in reverse order', () => {
    const sql = undoSections(report).filter(({ kind }) => kind === 'sql');
    expect(sql.map(({ lines }) => lines)).toEqual([
      ['ALTER TABLE public."Odd <b>Table</b>" REPLICA IDENTITY DEFAULT'],
      ['ALTER SYSTEM SET max_replication_slots = 1', "ALTER SYSTEM SET wal_level = 'replica'"],
    ]);
    expectGolden('db-preflight-reports', renderUndoScript(report) ?? '');
  });
});
