import { expect, test } from 'vitest';
import { tempFileLimitCheck } from '../../../../../src/db/preflight/postgresql/checks/temp-file-limit.ts';
import { preflightOptions, role, settings, short, sourceFacts } from '../facts.ts';

const both = 'fail continuous+dump';

test.each([
  { limit: '-1', memory: '64', verdict: 'pass' },
  { limit: '0', memory: '64', verdict: both },
  { limit: '0', memory: '512', verdict: both },
  { limit: '0', memory: '1024', verdict: 'warn' },
  { limit: '0', memory: '4096', verdict: 'pass' },
  { limit: '1048576', memory: '64', verdict: 'pass' },
])('temp_file_limit $limit kB beside work_mem $memory kB: $verdict', ({ limit, memory, verdict }) => {
  const facts = {
    settings: settings({ temp_file_limit: { value: limit, unit: 'kB' }, work_mem: { value: memory, unit: 'kB' } }),
    roleSettings: [],
    role: role(),
  };
  expect(short(tempFileLimitCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('many tables need more room than few', () => {
  const facts = {
    settings: settings({ temp_file_limit: { value: '0', unit: 'kB' }, work_mem: { value: '4096', unit: 'kB' } }),
    roleSettings: [],
    role: role(),
  };
  const perDatabase = new Map([
    ['d1', { bytes: 0, tables: 5000, largest: undefined, locks: { schema: 5000, all: 5000 } }],
  ]);
  const copy = { bytes: 0, tables: 5000, largest: undefined, perDatabase, unseen: [] };
  const found = tempFileLimitCheck.evaluate(facts, sourceFacts({ copy }), preflightOptions());
  expect(short(found)).toBe(both);
  expect(found.only).toEqual(['d1']);
});

test('a limit of one database stops that one alone, and the others keep what a server starts with', () => {
  const facts = {
    settings: settings({ temp_file_limit: { value: '0', unit: 'kB' }, work_mem: { value: '64', unit: 'kB' } }),
    roleSettings: ['temp_file_limit', 'work_mem'].map((name) => ({
      database: 'd1',
      role: 'migrator',
      name,
      value: name === 'work_mem' ? '64kB' : '0',
    })),
    role: role(),
  };
  expect(
    tempFileLimitCheck.evaluate(facts, sourceFacts({ dbname: 'd1', databases: ['d1', 'd2'] }), preflightOptions()),
  ).toMatchObject({
    status: 'fail',
    only: ['d1'],
    fix: { sql: ['ALTER ROLE "migrator" IN DATABASE "d1" SET temp_file_limit = \'-1\''] },
  });
});
