import { expect, it } from 'vitest';
import { wrapForTerminal } from '../../../../src/cli/text.ts';
import { renderTerminal } from '../../../../src/db/inventory/formats/terminal.ts';
import { renderReport } from '../../../../src/db/inventory/run.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { databaseFinding, outcome, reportOf, sampleOutcomes, serverFinding, unreachable } from '../outcomes.ts';

const plain = (text: string) => text;
const styles = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain };

it('the text has the result, what to fix first, what was not checked, and each finding once', () => {
  const text = renderTerminal(reportOf(sampleOutcomes()), styles);
  expectGolden('db-inventory', text);
  expect(text.split('\n').length).toBeLessThan(40);
});

it('the first screen of a terminal has totals, what was not checked, three steps and the next command', async () => {
  const wal = serverFinding('wal-level', { title: 'wal_level is not logical' });
  const slots = serverFinding('slots-vs-dbs', { title: 'max_replication_slots is less than the number of databases' });
  const identity = (at: number) =>
    databaseFinding('replica-identity', `db${at}`, { title: 'UPDATE fails without a replica identity' });
  const others = ['tables', 'roles', 'encoding', 'large-objects'].map((id) => serverFinding(id));
  const outcomes = Array.from({ length: 1000 }, (_, at) => {
    const server = `database-server-${at % 37}`;
    if (at % 50 === 0) return unreachable(at + 1, 'no response to the connection: a firewall drops the packets');
    if (at % 50 === 1) return unreachable(at + 1, 'the password command failed: it took longer than 10 s');
    if (at % 5 === 0) return outcome(at + 1, server, [wal, slots]);
    if (at % 5 === 1) return outcome(at + 1, server, [identity(at)]);
    return outcome(at + 1, server, at % 25 < 4 ? [others[at % 4] ?? wal] : []);
  });
  const rows = (await wrapForTerminal(renderTerminal(reportOf(outcomes), styles), 80)).split('\n');
  expectGolden('db-inventory', rows.slice(0, 24).join('\n'));
  const screen = rows.slice(0, 24);
  const totals = screen.slice(0, 4).join(' ');
  expect(totals).toContain('520 of 1,000 sources');
  expect(totals).toContain('440 not possible (440 by dump)');
  expect(totals).toMatch(/Not checked: 20 .* · 20 /);
  for (const number of [1, 2, 3]) expect(screen.filter((row) => row.startsWith(`  ${number}. `))).toHaveLength(1);
  const command = screen.slice(screen.findIndex((row) => row.includes('cloudctl db preflight'))).join('\n');
  expect(command).toMatch(/^ *cloudctl db preflight --fix-sql fix\.sql \\\n +--source \S+$/m);
  expect(rows.filter((row) => /^ {2}[4-7]\. /.test(row)).length).toBeGreaterThan(0);
});

it('no fix script is offered for a source whose login failed', () => {
  const { server: _server, ...failed } = outcome(1, 's1', [serverFinding('db-exists')]);
  const text = renderTerminal(reportOf([failed]), styles);
  expectGolden('db-inventory', text);
  expect(text).not.toContain('--fix-sql');
});

it('the Markdown has a row for each source', () => {
  const changed = { ...outcome(4, 's3'), changes: ['wal-level: pass before'] };
  const outcomes = [outcome(1, 's1', [serverFinding('wal-level')]), outcome(2, 's2'), unreachable(3), changed];
  expectGolden('db-inventory', renderReport('r.md', reportOf(outcomes)));
  expectGolden('db-inventory', renderTerminal(reportOf(outcomes), styles), 'text');
});

it('an inventory whose sources are all possible has no fixes', () => {
  const report = reportOf([outcome(1, 's1'), outcome(2, 's2')]);
  expectGolden('db-inventory', renderTerminal(report, styles));
  expect(renderReport('r.html', report)).not.toContain('id="fix-first"');
});

it('the HTML has ids once, and no script', () => {
  const one = serverFinding('wal-level');
  const html = renderReport('r.HTML', reportOf([...sampleOutcomes(), outcome(999, 'x', [{ ...one, title: 'Other' }])]));
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
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
    renderTerminal(report, styles),
    ...['r.html', 'r.md', 'r.json'].map((file) => renderReport(file, report)),
  ]) {
    expect(text).not.toMatch(/[\u001b\u202e]/);
  }
  expect(renderTerminal(report, styles)).not.toMatch(/^# x/m);
  expect(renderReport('r.md', report)).not.toMatch(/^# x/m);
  expect(renderReport('r.html', report)).not.toContain('<img');
});

it('checks that answer one question are one finding, with a reason for each', () => {
  const open = (id: string, line: number) =>
    outcome(line, `db${line}`, [databaseFinding(id, 'shop', { status: 'unknown', is_blocker: false })]);
  const report = reportOf([open('setting-checks', 1), open('session-checks', 2), open('table-oids', 1)]);
  const texts = [renderTerminal(report, styles), renderReport('r.md', report), renderReport('r.html', report)];
  for (const text of texts) {
    expect(text.split('It is not known whether the target evaluates expressions as the source did')).toHaveLength(2);
    for (const reason of ['by settings', 'by session, role or server', 'by object ids']) expect(text).toContain(reason);
  }
  expect(texts[0]).toContain('by settings (setting-checks): 1 source on 1 server\n');
});
