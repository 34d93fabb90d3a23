import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commonMethod } from '../../../src/db/inventory/formats/text.ts';
import { type BlockedSource, orderFixes } from '../../../src/db/inventory/report.ts';
import { databaseFinding, outcome, reportOf, sampleOutcomes, serverFinding, unreachable } from './outcomes.ts';

it('a finding of a server is one place, those of databases are one each', () => {
  const report = reportOf([
    outcome(2, 's1', [serverFinding('wal-level'), databaseFinding('replica-identity', 'a')]),
    outcome(1, 's1', [serverFinding('wal-level'), databaseFinding('replica-identity', 'b')]),
    outcome(3, 's2', [serverFinding('wal-level')]),
  ]);
  const [wal, identity] = report.findings;
  expect(wal).toMatchObject({ id: 'wal-level', sources: 3, servers: 2, place_count: 2 });
  expect(identity).toMatchObject({ id: 'replica-identity', sources: 2, servers: 1, place_count: 2 });
  expect(identity?.places.map(({ databases }) => databases)).toEqual([['a'], ['b']]);
});

it('the order in which outcomes arrive does not change the sources, servers and fixes', () => {
  const outcomes = sampleOutcomes();
  const [one, other] = [reportOf(outcomes), reportOf(outcomes.toReversed())];
  expect(other.sources).toEqual(one.sources);
  expect(other.servers).toEqual(one.servers);
  expect(other.fix_first).toEqual(one.fix_first);
  expect(other.summary).toEqual(one.summary);
});

it('several names of a server are one server, named as on its first line', () => {
  const alias = { ...outcome(9, 's1'), url: 'postgres://mover@alias.example.com:5432/x' };
  expect(reportOf([alias, outcome(3, 's1')]).servers).toEqual([
    { server: 's1.example.com:5432', version: '17.5', sources: 2, also: ['alias.example.com:5432'] },
  ]);
});

it('counts possible, blocked and unchecked sources, and what the fixes make possible', () => {
  const { summary, fix_first: steps } = reportOf(sampleOutcomes());
  expect(summary).toMatchObject({ sources: 265, servers: 21, possible: 40, not_possible: 220, not_checked: 5 });
  expect(steps.map(({ ids, unblocks, possible_after: after, databases }) => [ids, unblocks, after, databases])).toEqual(
    [
      [['wal-level'], 190, 230, 0],
      [['replica-identity'], 30, 260, 30],
    ],
  );
});

it('a source whose login failed is on the server of its address, and is not claimed to become possible', () => {
  const { server: _server, ...failed } = outcome(2, 's1', [serverFinding('db-exists')]);
  const entered = outcome(3, 's1', [serverFinding('wal-level')]);
  for (const outcomes of [
    [failed, entered],
    [entered, failed],
  ]) {
    const { summary, servers, fix_first: steps, sources } = reportOf(outcomes);
    expect(summary).toMatchObject({ sources: 2, servers: 1, not_possible: 2 });
    expect([servers.length, new Set(sources.map(({ server }) => server)).size]).toEqual([1, 1]);
    expect(steps).toMatchObject([
      { ids: ['wal-level'], unblocks: 1, possible_after: 1 },
      { ids: ['db-exists'], unblocks: 0, possible_after: 1, servers: [{ sources: 1 }] },
    ]);
  }
});

it('a fix that differs between servers is an example of one of them', () => {
  const slots = (count: number) => serverFinding('slots', { fix: { text: `N=${count}`, sql: [] } });
  const [same] = reportOf([outcome(1, 's1', [slots(5)]), outcome(2, 's2', [slots(5)])]).findings;
  expect(same?.fix_example_of).toBeUndefined();
  const [other] = reportOf([outcome(1, 's1', [slots(5)]), outcome(2, 's2', [slots(6)])]).findings;
  expect(other).toMatchObject({ fix: { text: 'N=5' }, fix_example_of: 's1.example.com:5432' });
});

it('keeps a bounded number of places, and counts all of them', () => {
  const many = Array.from({ length: 500 }, (_, at) => outcome(at, `s${at}`, [serverFinding('wal-level')]));
  const [finding] = reportOf([...many, ...many.slice(0, 50)]).findings;
  expect(finding).toMatchObject({ place_count: 500, sources: 550 });
  expect(finding?.places).toHaveLength(100);
});

it('sources of several methods have no common method', () => {
  expect(commonMethod(reportOf([outcome(1, 's')]))).toBe('continuous');
  expect(commonMethod(reportOf([outcome(1, 's'), { ...outcome(2, 's'), method: 'dump' }]))).toBeUndefined();
  expect(reportOf([unreachable(1)]).sources[0]).toMatchObject({ state: 'not_checked', ok: false });
});

const source = (server: string, ...blockedBy: string[]): BlockedSource => ({ server, blockedBy, databases: [] });
const many = (count: number, server: string, ...ids: string[]) =>
  Array.from({ length: count }, () => source(server, ...ids));

it('begins with the fix that unblocks most, and counts what is possible after each step', () => {
  const blocked = [...many(7, 's1', 'b'), ...many(12, 's2', 'a'), ...many(3, 's3', 'a', 'b'), ...many(1, 's4', 'c')];
  expect(orderFixes(blocked, 100)).toEqual([
    { ids: ['a'], unblocks: 12, possible_after: 112, databases: 0, servers: [{ server: 's2', sources: 12 }] },
    {
      ids: ['b'],
      unblocks: 10,
      possible_after: 122,
      databases: 0,
      servers: [
        { server: 's1', sources: 7 },
        { server: 's3', sources: 3 },
      ],
    },
    { ids: ['c'], unblocks: 1, possible_after: 123, databases: 0, servers: [{ server: 's4', sources: 1 }] },
  ]);
});

it('fixes that help only together are one step', () => {
  const blocked = [...many(10, 's', 'x', 'y'), ...many(2, 's', 'z')];
  expect(orderFixes(blocked, 0).map(({ ids, unblocks }) => [ids, unblocks])).toEqual([
    [['x', 'y'], 10],
    [['z'], 2],
  ]);
});

it('each source becomes possible in exactly one step, in whatever order the sources are', () => {
  const blocked = fc.array(
    fc.record({
      server: fc.constantFrom('s1', 's2', 's3'),
      blockedBy: fc.subarray(['a', 'b', 'c', 'd', 'e'], { minLength: 1 }),
      databases: fc.constant([]),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(blocked, fc.func(fc.integer()), (all, rank) => {
      const steps = orderFixes(all, 5);
      expect(steps.reduce((sum, { unblocks }) => sum + unblocks, 0)).toBe(all.length);
      expect(steps.at(-1)?.possible_after ?? 5).toBe(5 + all.length);
      const fixed = new Set<string>();
      for (const { ids, possible_after: after } of steps) {
        for (const id of ids) fixed.add(id);
        expect(after - 5).toBe(all.filter(({ blockedBy }) => blockedBy.every((id) => fixed.has(id))).length);
      }
      const shuffled = all.toSorted((a, b) => rank(a) - rank(b));
      expect(orderFixes(shuffled, 5)).toEqual(steps);
    }),
  );
});

it('counts each database of a step once, however many sources lead to it', () => {
  const place = (id: string, key: string, count = 1) => ({ id, key, count });
  const blocked = [
    { ...source('s1', 'a', 'b'), databases: [place('a', 's1.x'), place('b', 's1.x'), place('b', 's1.y')] },
    { ...source('s1', 'a', 'b'), databases: [place('a', 's1.x'), place('b', 's1.y')] },
    { ...source('s2', 'c'), databases: [place('c', 's2.x'), place('c', 's2 and others', 30)] },
  ];
  expect(orderFixes(blocked, 0).map(({ ids, databases }) => [ids, databases])).toEqual([
    [['a', 'b'], 2],
    [['c'], 31],
  ]);
});

it('ends after the last step that is wanted', () => {
  const blocked = Array.from({ length: 50 }, (_, at) => source('s', `id${at}`));
  expect(orderFixes(blocked, 0, 3)).toHaveLength(3);
});
