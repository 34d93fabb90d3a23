import { expect, test } from 'vitest';
import {
  type CheckFinding,
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../../src/db/preflight/finding.ts';
import { type ConclusionInput, deriveConclusion, verdictSentence } from '../../../src/db/preflight/verdict.ts';
import { expectGolden } from '../../fixtures/golden.ts';

function finding(id: string, outcome: CheckOutcome, database?: string): CheckFinding {
  const scope = database === undefined ? 'server' : 'database';
  return { id, title: id, headline: id, scope, ...(database === undefined ? {} : { database }), ...outcome };
}

function weigh(findings: readonly CheckFinding[], more: Partial<ConclusionInput> = {}) {
  return deriveConclusion({
    findings,
    databases: ['d1', 'd2'],
    methods: ['continuous', 'dump'],
    method: 'continuous',
    accept: [],
    strict: false,
    mayBlock: (id) => (id === 'advice' ? [] : ['continuous', 'dump']),
    ...more,
  });
}

const walLevel = finding('wal-level', failOutcome(['continuous'], 'replica'));

test('the sentence is about the requested method, and about the best one if that is blocked', () => {
  const said = (method: 'continuous' | 'dump', conditions: readonly string[], findings: readonly CheckFinding[] = []) =>
    verdictSentence({ ...weigh(findings, { method }), method, engine: 'postgresql' }, conditions);
  const sentences = [
    said('continuous', []),
    said('dump', []),
    said('dump', ['the rows are valid']),
    said('dump', [], [walLevel]),
  ];
  expectGolden('db-preflight-reports', sentences.join('\n'));
});

test('a finding that concerns each of 200,000 databases takes no time for each pair of them', () => {
  const databases = Array.from({ length: 200_000 }, (_, at) => `db${at}`);
  const only = databases.slice(16);
  const weighed = weigh([finding('count', failOutcome(['continuous', 'dump'], 'too many', { only }))], { databases });
  const verdicts = weighed.databases.map(({ verdict }) => verdict);
  expect([verdicts.indexOf('blocked'), verdicts.lastIndexOf('continuous')]).toEqual([16, 15]);
});

test('without a blocker the verdict is the best method', () => {
  expect(weigh([finding('a', passOutcome('yes')), finding('b', warnOutcome('hm'))])).toMatchObject({
    verdict: 'continuous',
    methods: { continuous: true, dump: true },
    ok: true,
    proven: true,
  });
});

test('a blocker of one method leaves the next best, and the method asked for is not possible', () => {
  const { verdict, ok, databases } = weigh([walLevel]);
  expect({ verdict, ok }).toEqual({ verdict: 'dump', ok: false });
  expect(databases).toEqual([
    { name: 'd1', verdict: 'dump', reasons: ['wal-level'] },
    { name: 'd2', verdict: 'dump', reasons: ['wal-level'] },
  ]);
});

test('the dump is possible when it was the dump that was asked for', () => {
  expect(weigh([walLevel], { method: 'dump' })).toMatchObject({ verdict: 'dump', ok: true });
});

test('the total is the worst of all databases', () => {
  const { verdict, databases } = weigh([finding('db-noconnect', failOutcome(['continuous', 'dump'], 'no'), 'd2')]);
  expect(verdict).toBe('blocked');
  expect(databases.map((one) => one.verdict)).toEqual(['continuous', 'blocked']);
});

test('a server-wide finding about some databases blocks no other', () => {
  const { databases } = weigh([finding('hba-rule', failOutcome(['continuous', 'dump'], 'reject', { only: ['d2'] }))]);
  expect(databases.map((one) => one.verdict)).toEqual(['continuous', 'blocked']);
});

test('an accepted blocker opens the method again and is marked', () => {
  const { verdict, findings, databases } = weigh([walLevel], { accept: ['wal-level'] });
  expect(verdict).toBe('continuous');
  expect(findings[0]).toMatchObject({ accepted: true });
  expect(databases[0]?.reasons).toEqual([]);
});

test('what passed is not marked as accepted', () => {
  expect(
    weigh([finding('wal-level', passOutcome('logical'))], { accept: ['wal-level'] }).findings[0],
  ).not.toHaveProperty('accepted');
});

test('strict makes a warning stop the run, unless it is accepted', () => {
  const warning = finding('wal-rate', warnOutcome('much'));
  expect(weigh([warning], { strict: true })).toMatchObject({ ok: false, verdict: 'continuous' });
  expect(weigh([warning], { strict: true, accept: ['wal-rate'] }).ok).toBe(true);
});

test('what could not be asked leaves the verdict unproven, and strict stops at that', () => {
  const doubt = finding('hba-rule', unknownOutcome('denied'));
  expect(weigh([doubt])).toMatchObject({ verdict: 'continuous', ok: true, proven: false });
  expect(weigh([doubt], { strict: true }).ok).toBe(false);
});

test('an unanswered question that could only have warned leaves no doubt', () => {
  expect(weigh([finding('advice', unknownOutcome('denied'))]).proven).toBe(true);
});

test('what is not known is a premise with the option that settles it, once for all databases', () => {
  const settle = 'Provide --target-extensions.';
  const open = ['d1', 'd2'].map((database) => ({
    ...finding('extensions', unknownOutcome('postgis', { text: settle })),
    database,
  }));
  const { premises, proven, ok } = weigh([finding('version-not-newer', unknownOutcome('say it')), ...open]);
  expect({ proven, ok }).toEqual({ proven: false, ok: true });
  expect(premises).toMatchObject([{ id: 'version-not-newer' }, { id: 'extensions', databases: ['d1', 'd2'], settle }]);
  expect(weigh([finding('advice', unknownOutcome('denied'))]).premises).toEqual([]);
});

test('a premise has a clause of its own, and names what settles it', () => {
  const open = {
    ...finding('setting-checks', unknownOutcome('2 constraints')),
    premise: 'valid rows',
    settledBy: '--x',
  };
  expect(weigh([open, finding('rows', unknownOutcome('not read'))]).premises).toEqual([
    { id: 'setting-checks', condition: 'valid rows', settled_by: '--x' },
    { id: 'rows', condition: 'rows', settled_by: 'cloudctl db rehearse' },
  ]);
});

test('databases with different clauses have the title of the check as their premise', () => {
  const inDatabase = (database: string, premise: string, settledBy: string) => ({
    ...finding('extensions', unknownOutcome('open'), database),
    premise,
    settledBy,
  });
  const open = [inDatabase('d1', 'the target provides a', '--a'), inDatabase('d2', 'the target provides b', '--b')];
  expect(weigh(open).premises).toEqual([
    { id: 'extensions', condition: 'extensions', databases: ['d1', 'd2'], settled_by: '--a; --b' },
  ]);
});

test('an accepted premise does not stop a strict run, and remains unproven', () => {
  const open = finding('redis-tls', unknownOutcome('private authority'));
  expect(weigh([open], { strict: true, accept: ['redis-tls'] })).toMatchObject({
    ok: true,
    proven: false,
    premises: [{ id: 'redis-tls', accepted: true }],
  });
});

test('blocked is proven by its blocker, whatever else is unknown', () => {
  const blocked = finding('tcp-connect', failOutcome(['continuous', 'dump'], 'ECONNREFUSED'));
  expect(weigh([blocked, finding('hba-rule', unknownOutcome('denied'))]).proven).toBe(true);
});

test('losses leave the verdict and are told with their database', () => {
  const { verdict, data_loss } = weigh([
    finding('unlogged', infoOutcome('3', { dataLoss: '3 unlogged tables' }), 'd1'),
    finding('roles', infoOutcome('2', { dataLoss: 'passwords of 2 roles' })),
  ]);
  expect(verdict).toBe('continuous');
  expect(data_loss).toEqual(['d1: 3 unlogged tables', 'passwords of 2 roles']);
});

test('the summary counts every status', () => {
  expect(weigh([walLevel, finding('a', passOutcome('x')), finding('b', passOutcome('y'))]).summary).toEqual({
    pass: 2,
    fail: 1,
    warn: 0,
    skip: 0,
    unknown: 0,
    info: 0,
  });
});

test('what is not known about the requested method leaves the verdict open, also where a better one is possible', () => {
  const doubt = [finding('orphaned-rows', unknownOutcome('not read'))];
  const mayBlock = () => ['dump'] as const;
  expect(weigh(doubt, { mayBlock, method: 'dump' })).toMatchObject({ verdict: 'continuous', ok: true, proven: false });
  expect(weigh(doubt, { mayBlock, method: 'dump', strict: true }).ok).toBe(false);
  expect(weigh(doubt, { mayBlock })).toMatchObject({ proven: true });
});
