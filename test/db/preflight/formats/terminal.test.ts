import { describe, expect, it } from 'vitest';
import type { BaselineChange } from '../../../../src/db/preflight/baseline.ts';
import type { CheckFinding, FindingFix } from '../../../../src/db/preflight/finding.ts';
import { modelOf } from '../../../../src/db/preflight/formats/model.ts';
import { blockedError } from '../../../../src/db/preflight/run-with-files.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { findings, report } from '../sample.ts';
import { onTerminal, rendered } from './words.ts';

const findingOf = (id: string, fix: FindingFix): CheckFinding => ({
  ...findings.find(({ status }) => status === 'fail')!,
  ...{ id, fix, headline: `headline of ${id}`, blocks: [report.method] },
});

/** The report of a source that was not logged in to. */
function withoutLogin(finding: CheckFinding): typeof report {
  const { server_version: _, ...source } = report.source;
  return { ...report, ok: false, source, premises: [], findings: [finding] };
}

describe('the report on a terminal', () => {
  const text = onTerminal(report);

  it('begins with the verdict, what blocks and what to run, then has the findings by severity', () => {
    expectGolden('db-preflight-reports', text);
    const order = [
      'dump',
      '(wal-level)',
      '(slots-vs-dbs)',
      'What to run: 1 table, 3 statements, 1 restart',
      'warn: hba-rule',
      'Databases',
      '<fail:> wal-level (blocks continuous)',
    ];
    const places = order.map((part) => text.indexOf(part));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('names what blocks only another method where that one was requested, or the requested one is blocked', () => {
    const scan: CheckFinding = {
      ...findings.find(({ status }) => status === 'fail')!,
      id: 'scan-only',
      blocks: ['scan'],
    };
    const possible = { ...report, methods: { continuous: true, scan: false }, method: 'continuous', ok: true } as const;
    const warningsOf = (one: typeof report) => modelOf(one).warnings.flatMap(({ ids }) => ids);
    expect(warningsOf({ ...possible, findings: [scan] })).toEqual([]);
    const blocked = { ...possible, methods: { continuous: false, scan: false }, ok: false };
    const other: CheckFinding = { ...scan, id: 'replica', blocks: ['continuous'] };
    expect(warningsOf({ ...blocked, findings: [scan, other] })).toEqual(['scan-only']);
  });

  it('has the first action on the first screen, however long the names are and however much blocks', () => {
    const blockers = findings.filter(({ status }) => status === 'fail');
    const many = Array.from({ length: 40 }, (_, at) => ({
      ...blockers[at % 4]!,
      id: `check-${at}`,
      headline: 'x'.repeat(70),
    }));
    const name = 'n'.repeat(63);
    const premises = many.map(({ id, title }) => ({
      id,
      condition: title.padEnd(60, 'y'),
      settle: 'z'.repeat(90),
      settled_by: '--z',
    }));
    const source = { ...report.source, host: 'h'.repeat(253), dbname: name, username: name };
    const worst = { ...report, source, premises, findings: many.map((one) => ({ ...one, database: name })) };
    const rows = onTerminal(worst)
      .split('\n')
      .flatMap((line) => line.match(/.{1,80}/gu) ?? ['']);
    expect(rows.slice(0, 24).join('\n')).toContain(': 1 table, 3 statements, 1 restart');
  });

  it('states the title of a blocker once', () => {
    for (const { headline, status } of findings.filter((finding) => finding.status === 'fail')) {
      expect(text.split(headline), `${status} ${headline}`).toHaveLength(2);
    }
  });

  it('names the command that follows, and the file of the fix script', () => {
    const possible = { ...report, ok: true, findings: [] };
    expectGolden('db-preflight-reports', onTerminal(possible, { nextCommand: 'NEXT' }), 'possible');
    expect(onTerminal(report, { fixFile: 'my fix.sql' })).toContain("-f 'my fix.sql'");
  });

  it('without a login says on the first screen that nothing else was checked, and that the script is comments', () => {
    const { server_version: _version, ...source } = report.source;
    const tls = {
      ...findings[0]!,
      id: 'tls-negotiate',
      fix: { shell: ["psql -c 'SELECT 1'"], reload: true, text: 'Set ssl = on.' },
    };
    const refused = { ...report, source, premises: [], findings: [tls] };
    const note = modelOf(refused).loginNote;
    for (const fixFile of [undefined, 'fix.sql']) {
      const shown = onTerminal(refused, { fixFile });
      expectGolden('db-preflight-reports', shown, `no login ${fixFile}`);
      expect(shown.split('\n').slice(0, 24)).toContain(note);
    }
    for (const file of ['a.md', 'a.html']) expect(rendered(file, refused)).toContain(note);
    expect(modelOf(report).loginNote).toBeUndefined();
  });

  it('asks for the password before it offers the script, which helps only a role that has expired', () => {
    const rejected = findingOf('auth-password', {
      text: 'Provide the correct password.',
      sql: ["DO 'ALTER ROLE'"],
      notSimulated: 'the login failed',
    });
    const shown = onTerminal(withoutLogin(rejected));
    expectGolden('db-preflight-reports', shown, 'wrong password');
    expect(blockedError(withoutLogin(rejected), undefined).hint).not.toContain('--fix-sql');
    expect(blockedError(withoutLogin(rejected), 'fix.sql').hint).not.toContain('fix.sql');
  });

  it('names --allow-private only for a host that has an address', () => {
    const shownFor = (text: string) => onTerminal(withoutLogin(findingOf('host-public-address', { text })));
    expect(shownFor('If the service is on this network, use --allow-private.')).toContain('add --allow-private');
    expect(shownFor('Correct the host name, or give the address.')).not.toContain('--allow-private');
  });

  it('does not mention unread rows without a login, because not even the tables are known', () => {
    const rows = { state: 'not_read' } as NonNullable<typeof report.rows>;
    const rejected = withoutLogin(findingOf('auth-password', { text: 'Provide the correct password.' }));
    expect(onTerminal({ ...rejected, rows })).not.toContain('--deep');
    expect(onTerminal({ ...report, rows })).toContain('--deep');
  });

  it('fits 24 rows of 80 columns without blockers, with one row for each warning and none for a loss above', () => {
    const many = Array.from({ length: 8 }, (_, at) => ({
      ...findings.find(({ id }) => id === 'hba-rule')!,
      ...{ id: `check-${at}`, headline: 'x'.repeat(200), observed: 'y'.repeat(200) },
    }));
    const lost = findings.find(({ id }) => id === 'unlogged')!;
    const shown = onTerminal(
      { ...report, ok: true, rows: { state: 'not_read' }, databases: [], findings: [...many, lost] },
      { nextCommand: 'NEXT', reportFiles: ['my report.html'] },
    );
    const rows = shown.split('\n').flatMap((line) => line.match(/.{1,80}/gu) ?? ['']);
    expect(rows.length).toBeLessThanOrEqual(24);
    expect(rows.filter((row) => row.includes('check-'))).toHaveLength(8);
    expect(rows.filter((row) => row.includes('unlogged'))).toHaveLength(1);
    expect(shown).toContain("'my report.html'");
  });

  it('shows premises about expressions that the target evaluates again as one, with the objects by reason', () => {
    const ids = ['setting-checks', 'session-checks', 'reading-checks', 'reading-functions', 'function-results'];
    const unknown = [...ids, 'table-oids'].map((id) => ({
      ...findings.find(({ status }) => status === 'unknown')!,
      ...{ id, objects: [`t_${id}`] },
    }));
    const premises = unknown.map(({ id, title }) => ({ id, condition: title, settled_by: 'cloudctl db rehearse' }));
    const shown = onTerminal({ ...report, ok: true, premises, findings: unknown });
    expect(shown.match(/^Open premise: /gm)).toHaveLength(1);
    for (const { id } of unknown) expect(shown).toMatch(new RegExp(`^  .*\\(${id}\\): t_${id}$`, 'm'));
    expect(shown).not.toMatch(/^unknown: /m);
    // One of them alone keeps its own words.
    const one = onTerminal({ ...report, ok: true, premises: premises.slice(0, 1), findings: unknown });
    expect(one).toContain('(setting-checks): cloudctl db rehearse');
  });

  it('calls a server of the Redis protocol by its name', () => {
    const lines = ['8.0.2', 'Valkey 8.0.1'].flatMap((server_version) =>
      ['a.md', 'a.html', undefined].map((file) => {
        const one = { ...report, engine: 'redis' as const, source: { ...report.source, server_version } };
        return file === undefined ? onTerminal(one) : rendered(file, one);
      }),
    );
    for (const text of lines.slice(0, 3)) expect(text).toContain('Redis 8.0.2');
    for (const text of lines.slice(3)) expect(text).not.toMatch(/redis Valkey/i);
  });

  it('omits findings that passed, were skipped or only inform', () => {
    for (const id of ['superuser', 'rls', 'matviews']) expect(text).not.toContain(`: ${id}`);
  });

  it('recommends databases to ignore, if that makes the method possible', () => {
    const advised = { ...report, advice: { ignore_dbs: ['My-DB', 'old'], verdict: 'continuous' as const } };
    expect(onTerminal(advised)).toContain('--ignore-dbs My-DB,old');
    for (const file of ['a.md', 'a.html']) expect(rendered(file, advised)).toContain('ignore-dbs My-DB,old');
    expect(text).not.toContain('--ignore-dbs');
  });

  it('colours a blocker and shows when a restart is needed', () => {
    const lines = text.slice(text.indexOf('<fail:> wal-level')).split('\n\n')[0] ?? '';
    expect(lines).toContain('(blocks continuous)');
    expect(lines).toMatch(/^ {2}fix: .* \(restart\)$/m);
  });

  it('lists every object of a finding, because the detail counts the others', () => {
    const unlogged = findings.find(({ id }) => id === 'unlogged')!;
    const objects = Array.from({ length: 20 }, (_, at) => `public.t${at}`);
    const shown = onTerminal({ ...report, findings: [{ ...unlogged, objects }] });
    expect(shown).toContain(objects.join(', '));
  });

  it('shows the same finding of several databases once', () => {
    const unlogged = findings.find(({ id }) => id === 'unlogged')!;
    const many = Array.from({ length: 9 }, (_, at) => ({ ...unlogged, database: `d${at}` }));
    const shown = onTerminal({ ...report, findings: many });
    expect(shown.match(/warn: unlogged/g)).toHaveLength(1);
    expect(shown).toContain('in d0, d1, d2, d3, d4 and 4 more');
  });

  it('prints no control character from a name or a message of the source', () => {
    const [first] = findings;
    const nasty = '\u001b[2J\u202eevil\u0007';
    const [one] = report.databases;
    const shown = onTerminal(
      {
        ...report,
        databases: [{ ...one!, name: nasty }],
        data_loss: [nasty],
        findings: [{ ...first!, observed: nasty, detail: `a\n${nasty}`, objects: [nasty], database: nasty }],
      },
      { changes: [{ id: 'x', database: nasty }] },
    );
    expect(shown).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(shown.match(/evil/g)?.length).toBeGreaterThan(5);
  });

  it('shows the databases that a finding of the server concerns', () => {
    const [first] = findings;
    expect(onTerminal({ ...report, findings: [{ ...first!, only: ['a', 'b'] }] })).toMatch(/wal-level in a, b/);
  });

  it('puts databases with the same verdict and reasons together', () => {
    const [one, two] = report.databases;
    const same = Array.from({ length: 200 }, (_, at) => ({ ...one!, name: `d${at}` }));
    const shown = onTerminal({ ...report, databases: [...same, two!] });
    expect(shown).toMatch(/^ {2}d0, d1, d2, d3, d4 and 195 more {2}dump/m);
    expect(shown).not.toContain('d9');
  });

  it('lists the changes since the baseline', () => {
    const change = {
      id: 'wal-level',
      before: { status: 'fail', observed: 'replica' },
      after: { status: 'pass' as const, observed: 'logical' },
    };
    const changesOf = (changes: readonly BaselineChange[]) =>
      onTerminal(report, { changes }).slice(onTerminal(report).trimEnd().length);
    expectGolden('db-preflight-reports', changesOf([change]), 'one change');
    expectGolden('db-preflight-reports', changesOf([]), 'no change');
  });
});
