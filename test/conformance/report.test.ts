import { describe, expect, it } from 'vitest';
import { junitErrors, parseXml } from '../db/preflight/formats/junit-schema.ts';
import { describeResult, type Report, renderJunit } from './report.ts';

const report: Report = {
  auth_url: 'http://127.0.0.1:8080',
  base_url: 'http://127.0.0.1:8081',
  ok: false,
  writes: true,
  counts: { holds: 1, differs: 1, open_choice: 1, not_testable: 1 },
  started_at: '2026-01-01T00:00:00.000Z',
  duration_ms: 1234,
  left: [],
  results: [
    { id: '15', rule: 'S2.5', text: 'A', status: 'holds' },
    { id: '50', rule: 'S6.2', text: 'B', status: 'differs', expected: '{}', sent: 'POST <x>', received: '500 & "y"' },
    { id: 'pkce', rule: 'S4.14', text: 'C', status: 'open_choice', observed: { plain: '400' }, unlike_sandbox: [] },
    { id: '132', rule: 'S1.6', text: 'D', status: 'not_testable', reason: 'unknown' },
  ],
};

it('follows its schema: a difference is a failure, what was not tested is skipped', () => {
  const xml = renderJunit(report);
  expect(junitErrors(xml)).toEqual([]);
  const root = parseXml(xml);
  expect(root.attributes).toMatchObject({ tests: '4', failures: '1', errors: '0', time: '1.234' });
  const cases = root.children[0]?.children.filter(({ name }) => name === 'testcase') ?? [];
  expect(cases.map(({ children }) => children[0]?.name)).toEqual([undefined, 'failure', 'system-out', 'skipped']);
  expect(cases[1]?.children[0]?.attributes.message).toContain('500 & "y"');
});

describe('one line about a result', () => {
  const row = { id: '1', rule: 'S1.1', text: 'text' };

  it.each([
    [{ ...row, status: 'holds' }, ''],
    [{ ...row, status: 'not_testable', reason: 'R' }, 'R'],
    [{ ...row, status: 'open_choice', observed: { A: '1', B: '2' } }, 'A: 1; B: 2'],
  ] as const)('%j', (result, text) => expect(describeResult(result)).toBe(text));

  it('a difference has its three parts', () => {
    const text = describeResult({ ...row, status: 'differs', expected: 'E', sent: 'S', received: 'R' });
    for (const part of ['E', 'S', 'R']) expect(text).toContain(part);
  });
});
