import { describe, expect, it } from 'vitest';
import {
  type CutoverFacts,
  cutoverChecklist,
  firstOpenLine,
  formatChecklist,
  listUnproven,
} from '../../../src/db/cutover/checklist.ts';
import { acceptTables, buildDatabaseComparisonEntry } from '../../../src/db/cutover/comparison.ts';
import type { ServerAccess } from '../../../src/db/cutover/postgresql/access-script.ts';
import type { AccessStatement } from '../../../src/db/cutover/postgresql/access-statements.ts';
import type { StateDifference } from '../../../src/db/cutover/postgresql/database-state.ts';

const equal = { state: 'equal', databases: [] } as const;
const running = { hasEnded: false, description: 'm' };
const ended = { hasEnded: true, description: 'm' };
const idle = { isIdle: true, observed: 'idle' };
const quiet = { count: 0, open: [], seconds: 6 };
const nothing: StateDifference = {
  extensions: [],
  definitions: [],
  materializedViews: [],
  largeObjects: [],
  unanalyzed: [],
  foreignOwners: [],
  keptOwners: [],
};
const same: ServerAccess = {
  databases: [{ database: 'shop', statements: [], notes: [], state: nothing }],
  passwords: { missing: [], unproven: [], proven: ['app'] },
};
const ready: CutoverFacts = {
  engine: 'postgresql',
  access: same,
  writes: quiet,
  lag: idle,
  sequences: { differences: [], ahead: [] },
  contents: equal,
  migration: ended,
  clean: { left: [], observed: 'no slot' },
};

const statesOf = (changes: Partial<CutoverFacts>) =>
  Object.fromEntries(cutoverChecklist({ ...ready, ...changes }).map(({ id, state }) => [id, state]));

describe('the checklist', () => {
  it('names what was not compared, and accepted, in a line that is done', () => {
    const unread = { rows_source: null, rows_target: null, state: 'not_comparable', acceptable: true } as const;
    const tables = [{ name: 'public.n', ...unread, error: 'a reason' }];
    const entry = buildDatabaseComparisonEntry({ name: 'shop', tables, sequences: [], not_compared: [] });
    const contents = { state: entry.state, databases: [entry] };
    expect(statesOf({ contents }).contents).toBe('unknown');
    const accepted = acceptTables(contents, ['shop:public.n']);
    const line = cutoverChecklist({ ...ready, contents: accepted }).find(({ id }) => id === 'contents');
    expect(line).toMatchObject({ state: 'done', observed: expect.stringContaining('shop:public.n (a reason)') });
  });

  it('asks for no end of the application while nothing arrives at the target', () => {
    const writes = { count: 70, open: [], seconds: 20 };
    const lag = { isIdle: false, observed: 'no server reads the slot' };
    const unproven = { ...same, passwords: { missing: [], unproven: ['app'], proven: [] } };
    const facts = { ...ready, migration: running, access: unproven, writes };
    expect(firstOpenLine(cutoverChecklist({ ...facts, lag: { ...lag, isBroken: true } }))?.id).toBe('lag');
    expect(firstOpenLine(cutoverChecklist({ ...facts, access: same, lag }))?.id).toBe('writes');
  });

  it('takes no password for proven when no database was read', () => {
    const failed = { database: 'shop', statements: [], notes: [], failure: 'no answer within 30 s' };
    const access = { databases: [failed], passwords: { missing: [], unproven: [], proven: [] } };
    expect(statesOf({ access })).toMatchObject({ extensions: 'unknown', passwords: 'unknown' });
  });

  it('names the databases that are left out, and what became of them', () => {
    const leftOut = [
      { database: 'crm', isOfMigration: true, failure: 'a reason', copyOwner: 'cloudctl_1' },
      { database: 'postgres', isOfMigration: false },
    ];
    const line = cutoverChecklist({ ...ready, leftOut }).find(({ id }) => id === 'left_out');
    expect(line).toMatchObject({
      state: 'done',
      observed: expect.stringMatching(/crm, postgres.*a reason.*cloudctl_1/),
    });
    expect(firstOpenLine(cutoverChecklist({ ...ready, leftOut }))).toBeUndefined();
  });

  it('names every role whose password nothing proves, also as unproven when it is accepted', () => {
    const roles = ['a1', 'b2', 'c3', 'd4', 'e5'];
    const access = { ...same, passwords: { missing: [], unproven: roles, proven: [] } };
    const lines = cutoverChecklist({ ...ready, access, accepted: ['passwords'] });
    const [unproven, ...others] = listUnproven(lines);
    for (const role of roles) expect(unproven).toContain(role);
    expect(others).toEqual([]);
    expect(listUnproven(cutoverChecklist(ready))).toEqual([]);
  });

  it('is done when every line is', () => {
    expect(firstOpenLine(cutoverChecklist(ready))).toBeUndefined();
    expect(statesOf({})).toEqual({
      target: 'done',
      extensions: 'done',
      definitions: 'done',
      passwords: 'done',
      writes: 'done',
      lag: 'done',
      sequences: 'done',
      contents: 'done',
      stopped: 'done',
      large_objects: 'done',
      materialized_views: 'done',
      grants: 'done',
      defaults: 'done',
      settings: 'done',
      statistics: 'done',
      clean: 'done',
    });
  });

  it('of Redis has no sequences', () => {
    expect(Object.keys(statesOf({ engine: 'redis' }))).toEqual([
      'target',
      'writes',
      'lag',
      'contents',
      'stopped',
      'clean',
    ]);
  });

  it.each<[Partial<CutoverFacts>, object]>([
    [{ writes: { ...quiet, count: 1 } }, { writes: 'open' }],
    [{ writes: { ...quiet, open: ['pid 7'] } }, { writes: 'open' }],
    [
      { migration: running, lag: { isIdle: false, observed: 'behind' } },
      { lag: 'open', stopped: 'open' },
    ],
    [{ migration: running }, { lag: 'done', stopped: 'open' }],
    [{ sequences: { differences: ['shop: s'], ahead: [] } }, { sequences: 'open' }],
    [{ clean: { left: ['a slot'], observed: '' } }, { clean: 'open' }],
    [{ clean: 'no access' }, { clean: 'unknown' }],
    [{ sequences: 'no access' }, { sequences: 'unknown' }],
    [{ contents: { state: 'differs', databases: [] } }, { contents: 'open', lag: 'unknown' }],
    [{ contents: { state: 'not_comparable', databases: [] } }, { contents: 'unknown', lag: 'unknown' }],
    [{ contents: 'no access' }, { contents: 'unknown' }],
    [{ migration: 'the service does not answer' }, { stopped: 'unknown', lag: 'done' }],
  ])('%j has %j', (changes, expected) => {
    expect(statesOf(changes)).toMatchObject(expected);
    expect(firstOpenLine(cutoverChecklist({ ...ready, ...changes }))).toBeDefined();
  });

  it('names the difference first, not that nothing shows what has arrived after the end', () => {
    const different = { state: 'differs', databases: [] } as const;
    const first = (changes: Partial<CutoverFacts>) => firstOpenLine(cutoverChecklist({ ...ready, ...changes }))?.id;
    expect(first({ contents: different })).toBe('contents');
    expect(first({ contents: different, sequences: { differences: ['shop: s'], ahead: [] } })).toBe('sequences');
    expect(first({ contents: different, migration: running })).toBe('contents');
    expect(first({ contents: different, writes: { ...quiet, count: 1 } })).toBe('writes');
  });

  it('a check that was left out is not done', () => {
    const { sequences: _sequences, contents: _contents, lag: _lag, clean: _clean, ...facts } = ready;
    const states = cutoverChecklist({ ...facts, migration: running }).map(({ state }) => state);
    expect(states).toEqual([
      ...['done', 'done', 'done', 'done', 'done', 'not_checked', 'not_checked', 'not_checked', 'open'],
      ...Array(7).fill('not_checked'),
    ]);
  });

  const grant: AccessStatement = { section: 'grants', sql: 'GRANT SELECT ON t TO app' };
  const lacks = (...statements: readonly AccessStatement[]) => ({
    access: { ...same, databases: same.databases.map((one) => ({ ...one, statements })) },
  });
  const state = (found: Partial<StateDifference>) => ({
    access: {
      ...same,
      databases: same.databases.map((one) => ({ ...one, state: { ...nothing, ...found } })),
    },
  });
  const passwords = (found: Partial<ServerAccess['passwords']>) => ({
    access: { ...same, passwords: { ...same.passwords, ...found } },
  });

  it.each<[string, Partial<CutoverFacts>, object]>([
    ['a missing privilege', lacks(grant), { grants: 'open', defaults: 'done' }],
    ['a privilege that PUBLIC has in excess', lacks({ ...grant, isPublicExcess: true }), { grants: 'fails' }],
    ['a privilege that the login may not give', lacks({ ...grant, left: 'a reason' }), { grants: 'open' }],
    [
      'a right on the server',
      lacks({ section: 'roles', sql: 'ALTER ROLE r SUPERUSER', left: 'a reason', isMinor: true }),
      { grants: 'done' },
    ],
    ['a default privilege', lacks({ ...grant, section: 'defaults' }), { grants: 'done', defaults: 'open' }],
    ['a setting', lacks({ ...grant, section: 'settings' }), { settings: 'open' }],
    ['a database that cannot be read', { access: 'no access' }, { grants: 'unknown', extensions: 'unknown' }],
    ['a missing extension', state({ extensions: ['x 1.0 is missing'] }), { extensions: 'open' }],
    ['a missing policy', state({ definitions: ['policy p on public.t is missing'] }), { definitions: 'open' }],
    ['an empty materialized view', state({ materializedViews: ['v is empty'] }), { materialized_views: 'open' }],
    ['missing large objects', state({ largeObjects: ['1 instead of 2'] }), { large_objects: 'open' }],
    ['a table without statistics', state({ unanalyzed: ['t'] }), { statistics: 'open' }],
    ['a role without a password', passwords({ missing: ['app'] }), { passwords: 'open' }],
    ['a password that nothing proves', passwords({ unproven: ['app'] }), { passwords: 'unknown' }],
  ])('of %s has the line', (_what, changes, expected) => {
    expect(statesOf(changes)).toMatchObject(expected);
    const lines = cutoverChecklist({ ...ready, ...changes });
    const [id = ''] = Object.entries(statesOf(changes)).find(([, one]) => one !== 'done') ?? [];
    const others = id === '' || changes.access === 'no access' ? [] : [id];
    if (others.length > 0) {
      const accepted = cutoverChecklist({ ...ready, ...changes, accepted: others });
      expect(firstOpenLine(accepted)).toBeUndefined();
      expect(accepted.find((line) => line.id === id)?.observed).toMatch(/^accepted: /);
    }
    expect(lines).toHaveLength(16);
  });

  it('names the first objects that differ', () => {
    const sequences = { differences: ['a: 1', 'b: 2', 'c: 3', 'd: 4'], ahead: [] };
    const line = cutoverChecklist({ ...ready, sequences }).find(({ id }) => id === 'sequences');
    expect(line?.observed).toContain('a: 1, b: 2, c: 3');
    expect(line?.observed).not.toContain('d: 4');
  });
});

it('puts what was observed below its step, without control characters', () => {
  const text = formatChecklist([
    { id: 'writes', state: 'done', title: 'step one', observed: 'a\u001b[2J\nb' },
    { id: 'lag', state: 'not_checked', title: 'step two', observed: 'later' },
  ]);
  expect(text).not.toMatch(/\u001b/);
  const lines = text.split('\n');
  expect(lines).toHaveLength(4);
  expect(new Set(lines.map((line) => line.search(/(?<=^.{12} )\S/)))).toEqual(new Set([13]));
});
