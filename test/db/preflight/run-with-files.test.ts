import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import {
  blockedError,
  type ReportWithChanges,
  reportOptionSpecs,
  runWithFiles,
} from '../../../src/db/preflight/run-with-files.ts';
import { countingSource } from '../../commands/db/test-source.ts';
import { argsFrom, commandIo } from '../../fixtures/command-io.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { preflightOptions } from './redis/preflight-options.ts';
import { report } from './sample.ts';

const deadlineSpec = { name: 'deadline', description: '', valueName: 'DURATION' };

/** Runs the preflight of a Redis source that listens on `port`. */
function run(
  host: TestHost,
  port: number,
  files: Readonly<Record<string, readonly string[]>>,
): Promise<ReportWithChanges> {
  const args = argsFrom(files, [], [...reportOptionSpecs, deadlineSpec]);
  const credentials = { username: undefined, password: undefined, db: undefined };
  const source = { host: '127.0.0.1', port, ssl: 'disable', ...credentials } as const;
  return runWithFiles(commandIo(host), args, { engine: 'redis', source }, preflightOptions({ isOverInternet: false }));
}

function savedReport(file: string): PreflightReport {
  return JSON.parse(readFileSync(file, 'utf8'));
}

it('an unreachable source is a report, and every --report is written in its format', async () => {
  const host = testHost();
  const [json, markdown] = ['r.json', 'r.md'].map((name) => join(host.place.work, name));
  const { report: found, changes } = await run(host, await closedPort(), { report: [json!, markdown!] });
  expect(found.verdict).toBe('blocked');
  expect(changes).toBeUndefined();
  expect(savedReport(json!)).toEqual(JSON.parse(JSON.stringify(found)));
  expect(readFileSync(markdown!, 'utf8')).toMatch(/^# /);
});

it('a script without a statement is not written, and a note names the file', async () => {
  const host = testHost();
  const [fix, undo] = ['fix.sql', 'undo.sql'].map((name) => join(host.place.work, name));
  await run(host, await closedPort(), { 'fix-sql': [fix!], 'undo-sql': [undo!] });
  expect([fix, undo].map((file) => existsSync(file!))).toEqual([false, false]);
  for (const file of [fix, undo]) expect(host.err()).toContain(file);
});

describe('a file name that cannot be used is an error before the source is queried', () => {
  it.each([
    ['a report in a folder that does not exist', { report: [join('none', 'r.json')] }],
    ['a report of an unknown format', { report: ['r.pdf'] }],
    ['a script in a folder that does not exist', { 'fix-sql': [join('none', 'fix.sql')] }],
    ['a SARIF report for a path that leaves the repository', { report: ['r.sarif'], 'sarif-uri': ['..'] }],
    ['a baseline in a folder that does not exist', { baseline: [join('none', 'b.json')] }],
  ] as const)('%s', async (_name, given) => {
    const host = testHost();
    const source = await countingSource();
    const files = Object.fromEntries(
      Object.entries(given).map(([option, names]) => [option, names.map((name) => join(host.place.work, name))]),
    );
    await expect(run(host, source.port, files)).rejects.toMatchObject({ code: 'usage', exitCode: 2 });
    expect(source.asked()).toBe(0);
  });
});

describe('--baseline', () => {
  it('is written by the first run and compared with by the next', async () => {
    const host = testHost();
    const file = join(host.place.work, 'base.json');
    const port = await closedPort();
    const first = await run(host, port, { baseline: [file] });
    expect(first.changes).toBeUndefined();
    const saved = savedReport(file);
    expect(saved.findings).toHaveLength(first.report.findings.length);

    const [changed, ...others] = saved.findings;
    writeFileSync(
      file,
      JSON.stringify({ ...saved, findings: [{ ...changed, status: 'warn', observed: 'earlier' }, ...others] }),
    );
    const before = readFileSync(file, 'utf8');
    const { changes } = await run(host, port, { baseline: [file] });
    expect(changes).toEqual([expect.objectContaining({ id: changed!.id })]);
    expect(changes?.[0]?.before?.observed).toBe('earlier');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('of another source is an error, and nothing is written', async () => {
    const host = testHost();
    const [file, json] = ['base.json', 'r.json'].map((name) => join(host.place.work, name));
    await run(host, await closedPort(), { baseline: [file!] });
    const saved = savedReport(file!);
    writeFileSync(file!, JSON.stringify({ ...saved, source: { ...saved.source, host: 'other.example.com' } }));
    const next = run(host, saved.source.port, { baseline: [file!], report: [json!] });
    await expect(next).rejects.toMatchObject({ code: 'usage' });
    expect(existsSync(json!)).toBe(false);
  });

  it('that is not a report is an error before the source is queried, and is kept', async () => {
    const host = testHost();
    const source = await countingSource();
    const file = join(host.place.work, 'notes.txt');
    writeFileSync(file, 'my notes');
    await expect(run(host, source.port, { baseline: [file] })).rejects.toMatchObject({ code: 'usage' });
    expect(source.asked()).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('my notes');
  });
});

describe('the error of a method that is not possible', () => {
  it('names each blocker of the method once, and no other finding', () => {
    const { code, exitCode, detail } = blockedError(report, undefined);
    expect({ code, exitCode }).toEqual({ code: 'preflight_blocked', exitCode: 3 });
    const blockers = new Set(
      report.findings.filter(({ blocks }) => blocks.includes(report.method)).map(({ id }) => id),
    );
    expect(blockers.size).toBeGreaterThan(1);
    for (const { id } of report.findings) {
      expect(detail?.split(id).length, id).toBe(blockers.has(id) ? 2 : 1);
    }
  });

  it('leaves out accepted blockers', () => {
    const findings = report.findings.map((finding) => ({ ...finding, accepted: finding.id === 'wal-level' }));
    expect(blockedError({ ...report, findings }, undefined).detail).not.toContain('wal-level');
  });

  it('recommends to write the fix script, or to run the one that was written', () => {
    expect(blockedError(report, undefined).hint).toContain('--fix-sql');
    const { hint } = blockedError(report, 'my-fix.sql');
    expect(hint).toContain('my-fix.sql');
    expect(hint).not.toContain('--fix-sql');
  });

  it('recommends no script when no finding has a fix for one', () => {
    const findings = report.findings.map(({ fix: _fix, ...finding }) => finding);
    expect(blockedError({ ...report, findings }, undefined).hint).not.toContain('--fix-sql');
  });
});
