import { describe, expect, it } from 'vitest';
import { decodeBaseline, findBaselineChanges } from '../../../src/db/preflight/baseline.ts';
import { findings, report } from './sample.ts';

const saved = decodeBaseline(JSON.stringify(report));

describe('a baseline', () => {
  it('is a report that was saved, and nothing else', () => {
    expect(saved?.source).toBe('2001:db8::5:5432');
    for (const text of [
      '',
      'null',
      '{}',
      '{"schema_version":1}',
      '{"schema_version":2}',
      '{"schema_version":1,"engine":"postgresql","started_at":"x","source":{},"findings":[{}]}',
    ]) {
      expect(decodeBaseline(text)).toBeUndefined();
    }
  });

  it('of the same source without a change tells of none', () => {
    expect(saved && findBaselineChanges(saved, report)).toEqual([]);
  });

  it('tells a schema in which a table was made, and one that is new or gone', () => {
    const before = decodeBaseline(
      JSON.stringify({ ...report, schemas: { 'shop.public': '3 tables', 'shop.old': '1 tables' } }),
    );
    const after = { 'shop.public': '4 tables', 'shop.new': '1 tables' };
    expect(before && findBaselineChanges(before, report, after)).toEqual([
      { id: 'schema shop.new', after: { status: 'info', observed: '1 tables' } },
      { id: 'schema shop.old', before: { status: 'info', observed: '1 tables' } },
      {
        id: 'schema shop.public',
        before: { status: 'info', observed: '3 tables' },
        after: { status: 'info', observed: '4 tables' },
      },
    ]);
  });

  it('without shapes of its own tells of no drift', () => {
    expect(saved && findBaselineChanges(saved, report, { 'shop.public': '4 tables' })).toEqual([]);
  });

  it('tells another status, other objects and another threshold, what is new and what is gone, each in its database', () => {
    const [wal, slots, ...rest] = findings;
    const after = {
      ...report,
      findings: [
        { ...wal!, status: 'pass' as const, observed: 'logical' },
        { ...slots!, observed: '2', required: 'at least 9' },
        ...rest.filter(({ id }) => id !== 'matviews'),
        { ...rest.find(({ id }) => id === 'matviews')!, database: 'other' },
      ],
    };
    expect(saved && findBaselineChanges(saved, after)).toMatchObject([
      { id: 'wal-level', before: { status: 'fail' }, after: { status: 'pass', observed: 'logical' } },
      {
        id: 'slots-vs-dbs',
        before: { status: 'fail' },
        after: { observed: expect.stringMatching(/^2: .*at least 9$/) },
      },
      { id: 'matviews', database: 'other', after: { status: 'info', observed: '1 materialized view' } },
      { id: 'matviews', database: 'shop', before: { status: 'info', observed: '1 materialized view' } },
    ]);
  });

  const [first] = findings;
  const changesOf = (was: object, is: object) => {
    const before = decodeBaseline(JSON.stringify({ ...report, findings: [{ ...first!, ...was }] }));
    return before && findBaselineChanges(before, { ...report, findings: [{ ...first!, ...is }] });
  };

  it.each([
    [{ observed: '2 ms' }, { observed: '3 ms' }],
    [{ observed: '5.1 MB/s of WAL' }, { observed: '4.9 MB/s of WAL' }],
    [{ required: 'at least 5.2 GB' }, { required: 'at least 5.3 GB' }],
    [{ objects: ['public.a (12 MB)', 'public.b'] }, { objects: ['public.b', 'public.a (13 MB)'] }],
    [{ detail: 'since 9:00' }, { detail: 'since 10:00' }],
  ])('of %j tells no change for %j', (was, is) => {
    expect(changesOf(was, is)).toEqual([]);
  });

  it.each([
    [{ status: 'warn' }, { status: 'fail' }],
    [
      { status: 'fail', blocks: ['continuous'] },
      { status: 'fail', blocks: ['continuous', 'dump'] },
    ],
    [{ objects: ['public.a'] }, { objects: ['public.b'] }],
    [{ objects: ['public.a'] }, { objects: ['public.a', 'public.b'] }],
    [{ required: 'at least 4' }, { required: 'at least 5' }],
  ])('of %j tells the change to %j', (was, is) => {
    expect(changesOf(was, is)).toHaveLength(1);
  });
});
