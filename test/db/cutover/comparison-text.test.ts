import { expect, it } from 'vitest';
import {
  acceptTables,
  buildDatabaseComparisonEntry,
  type DatabaseComparisonReport,
  divideAccepted,
  pickWorstComparisonResult,
} from '../../../src/db/cutover/comparison.ts';
import {
  buildDatabaseComparisonError,
  formatDatabaseComparison,
  printDatabaseComparison,
} from '../../../src/db/cutover/comparison-text.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';

const plain = { bold: (text: string) => text, red: (text: string) => text, yellow: (text: string) => text };
const servers = {
  source: { host: 'old.example', port: 5432, version: '14.9' },
  target: { host: 'new.example', port: 25061, version: '17.2' },
};

const parts = { sequences: [], not_compared: [] };
const equal = buildDatabaseComparisonEntry({
  ...{ name: 'shop', not_compared: ['1 materialized view'] },
  sequences: [{ name: 'public.s', source: '5', target: '5', state: 'equal' }],
  tables: [
    { name: 'public.t', rows_source: 3, rows_target: 3, state: 'equal' },
    { name: 'public.g', rows_source: 2, rows_target: 2, state: 'partly_equal', columns_not_compared: ['sum'] },
  ],
});
const behind = buildDatabaseComparisonEntry({
  ...parts,
  name: 'busy',
  tables: [{ name: 'public.t', rows_source: 4, rows_target: 3, state: 'not_comparable', error: 'a slot is behind' }],
});
const closed = buildDatabaseComparisonEntry({ ...parts, name: 'closed', tables: [], error: 'permission denied' });
const other = buildDatabaseComparisonEntry({
  name: '=evil()\u001b[2J',
  tables: [{ name: 'public.t', rows_source: 3, rows_target: null, state: 'differs' }],
  sequences: [{ name: 'public.s', source: '5', target: '1.', state: 'differs' }],
  not_compared: [],
});

function report(...databases: DatabaseComparisonReport['databases']): DatabaseComparisonReport {
  return {
    ...{ schema_version: 1, engine: 'postgresql', ...servers, databases, not_compared: ['roles'] },
    state: pickWorstComparisonResult(databases.map(({ state }) => state)),
    ...{ started_at: '2026-01-01T00:00:00.000Z', seconds: 1.5 },
  };
}

it.each([
  ['equal', report(equal)],
  ['not comparable', report(equal, behind, closed)],
  ['different', report(equal, behind, other)],
])('the text of a comparison that is %s', (_what, one) => {
  expectGolden('db-compare', formatDatabaseComparison(one, plain));
  expect(formatDatabaseComparison(one, plain)).not.toContain('\u001b');
});

it('a difference is exit 1, what could not be compared exit 5; a difference comes first', () => {
  expect(buildDatabaseComparisonError(report(behind, other), 'cloudctl db compare')).toMatchObject({
    code: 'contents_differ',
    exitCode: 1,
  });
  const unknown = buildDatabaseComparisonError(report(equal, behind, closed), 'cloudctl db compare');
  expect(unknown).toMatchObject({ code: 'contents_not_comparable', exitCode: 5 });
  expectGolden('db-compare', `${unknown.message}\n${unknown.detail}\n${unknown.hint}`);
});

const closedTable = { name: "public.o'n", rows_source: null, rows_target: null, error: 'permission denied' } as const;
const unread = buildDatabaseComparisonEntry({
  ...{ ...parts, name: 'shop', tables: [{ ...closedTable, state: 'not_comparable', acceptable: true }] },
});

it('what no other comparison settles is accepted by name, and the hint is the command for it', () => {
  const command = 'cloudctl db compare --target x';
  expect(buildDatabaseComparisonError(report(equal, unread), command).hint).toContain(
    `\`${command} --accept 'shop:public.o'\\''n'\``,
  );
  // With a table that another comparison may settle, no acceptance ends in success.
  expect(buildDatabaseComparisonError(report(behind, unread), command).hint).not.toContain('--accept');
  const accepted = acceptTables(report(equal, unread), ["shop:public.o'n"]);
  expect(accepted.state).toBe('equal');
  expect(formatDatabaseComparison(accepted, plain)).toContain("not compared, accepted: public.o'n: permission denied");
});

it('what only the stop of the migration copies is compared after it', () => {
  const objects = { name: 'large objects', rows_source: 1, rows_target: 0, state: 'not_comparable' } as const;
  const running = buildDatabaseComparisonEntry({
    ...parts,
    name: 'shop',
    tables: [objects],
    left_to_stop: ['1 large object'],
  });
  expect(formatDatabaseComparison(report(equal, running), plain)).toContain('shop: 1 large object');
  const error = buildDatabaseComparisonError(report(equal, running), 'cloudctl db compare --target x');
  expect(error).toMatchObject({ exitCode: 5, hint: expect.stringContaining('`cloudctl db compare --target x`') });
});

it('what differs, or may be settled by another comparison, is not accepted', () => {
  expect(acceptTables(report(behind), ['busy:public.t']).state).toBe('not_comparable');
  expect(acceptTables(report(other), ['=evil()\u001b[2J:public.t']).state).toBe('differs');
  expect(acceptTables(report(unread), ['other:public.t']).state).toBe('not_comparable');
});

it('a value of --accept is a table, or the id of a line', () => {
  expect(divideAccepted(['passwords', 'shop:public.t'], ['passwords'])).toEqual({
    lines: ['passwords'],
    tables: ['shop:public.t'],
  });
  expect(() => divideAccepted(['password'], ['passwords'])).toThrow('password');
});

it('csv has a row for each table and sequence, and for a database with an error; json is the report', async () => {
  const host = testHost();
  await printDatabaseComparison(commandIo(host, 'csv'), report(equal, closed, other));
  const lines = host.out().trim().split('\n');
  expect(lines).toHaveLength(1 + 3 + 1 + 2);
  expect(lines.at(-1)).toMatch(/^'=evil/);
  const json = testHost();
  await printDatabaseComparison(commandIo(json, 'json'), report(equal));
  expect(json.json()).toMatchObject({ state: 'equal', databases: [{ name: 'shop' }] });
});

it('never says that no difference was found beside keys that were not equal, and counts those that were', () => {
  const keys = { name: 'keys', rows_source: 3000, rows_target: 3000, rows_equal: 2999 };
  for (const state of ['not_comparable', 'differs'] as const) {
    const found = { ...keys, state, error: 'the source was written to; 1 key not equal when read: k' };
    const redis = {
      ...report(buildDatabaseComparisonEntry({ ...parts, name: 'db0', tables: [found] })),
      engine: 'redis',
    };
    const text = formatDatabaseComparison({ ...redis, engine: 'redis' }, plain);
    expect(text).not.toMatch(/no difference|\b0 keys/);
    expect(text).toContain('2,999 of 3,000 keys equal');
  }
});
