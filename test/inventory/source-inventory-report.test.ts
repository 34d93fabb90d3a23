import { expect, it } from 'vitest';
import { commonSourceInventoryMethod } from '../../src/inventory/formats/inventory-text.ts';
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
  expect(commonSourceInventoryMethod(reportOf([outcome(1, 's')]))).toBe('continuous');
  expect(
    commonSourceInventoryMethod(reportOf([outcome(1, 's'), { ...outcome(2, 's'), method: 'dump' }])),
  ).toBeUndefined();
  expect(reportOf([unreachable(1)]).sources[0]).toMatchObject({ state: 'not_checked', ok: false });
});
