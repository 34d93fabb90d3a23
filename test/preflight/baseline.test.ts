import { describe, expect, it } from 'vitest';
import { decodePreflightBaseline, findPreflightChangesSinceBaseline } from '../../src/preflight/baseline.ts';
import { findings, report } from './sample.ts';

const saved = decodePreflightBaseline(JSON.stringify(report));

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
      expect(decodePreflightBaseline(text)).toBeUndefined();
    }
  });

  it('of the same source without a change tells of none', () => {
    expect(saved && findPreflightChangesSinceBaseline(saved, report)).toEqual([]);
  });

  it('tells a schema in which a table was made, and one that is new or gone', () => {
    const before = decodePreflightBaseline(
      JSON.stringify({ ...report, schemas: { 'shop.public': '3 tables', 'shop.old': '1 tables' } }),
    );
    const after = { 'shop.public': '4 tables', 'shop.new': '1 tables' };
    expect(before && findPreflightChangesSinceBaseline(before, report, after)).toEqual([
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
    expect(saved && findPreflightChangesSinceBaseline(saved, report, { 'shop.public': '4 tables' })).toEqual([]);
  });

  it('tells another status, another value, what is new and what is gone, each in its database', () => {
    const [wal, slots, ...rest] = findings;
    const after = {
      ...report,
      findings: [
        { ...wal!, status: 'pass' as const, observed: 'logical' },
        { ...slots!, observed: '2' },
        ...rest.filter(({ id }) => id !== 'matviews'),
        { ...rest.find(({ id }) => id === 'matviews')!, database: 'other' },
      ],
    };
    expect(saved && findPreflightChangesSinceBaseline(saved, after)).toEqual([
      {
        id: 'wal-level',
        before: { status: 'fail', observed: 'replica' },
        after: { status: 'pass', observed: 'logical' },
      },
      { id: 'slots-vs-dbs', before: { status: 'fail', observed: '1' }, after: { status: 'fail', observed: '2' } },
      { id: 'matviews', database: 'other', after: { status: 'info', observed: '1 materialized view' } },
      { id: 'matviews', database: 'shop', before: { status: 'info', observed: '1 materialized view' } },
    ]);
  });
});
