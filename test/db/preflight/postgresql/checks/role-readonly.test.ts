import { expect, test } from 'vitest';
import { roleReadonlyCheck } from '../../../../../src/db/preflight/postgresql/checks/role-readonly.ts';
import { preflightOptions, role, settings, short, sourceFacts } from '../facts.ts';

const off = settings({ default_transaction_read_only: { value: 'off', context: 'user' } });

test('a role that begins read-only transactions cannot publish', () => {
  const glued = { role: 'migrator', database: undefined, name: 'default_transaction_read_only', value: 'on' };
  const facts = { settings: off, roleSettings: [glued], role: role() };
  const outcome = roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('fail continuous');
  expect(outcome).not.toHaveProperty('only');
  expect(outcome.fix).toMatchObject({
    sql: [`ALTER ROLE "migrator" SET default_transaction_read_only = 'off'`],
    undo: [`ALTER ROLE "migrator" SET default_transaction_read_only = 'on'`],
  });
});

test('a database that begins read-only transactions is the only one blocked', () => {
  const glued = { role: undefined, database: 'd1', name: 'default_transaction_read_only', value: 'on' };
  const facts = { settings: off, roleSettings: [glued], role: role() };
  expect(roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'fail',
    only: ['d1'],
    fix: { undo: ['ALTER ROLE "migrator" RESET default_transaction_read_only'] },
  });
});

test("what is glued to the role wins over the database's", () => {
  const facts = {
    settings: off,
    roleSettings: [
      { role: undefined, database: 'd1', name: 'default_transaction_read_only', value: 'on' },
      { role: 'migrator', database: undefined, name: 'default_transaction_read_only', value: 'off' },
    ],
    role: role(),
  };
  expect(short(roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe('pass');
});

test('ALTER ROLE IN DATABASE overrides the role, and the fix changes it there', () => {
  const facts = {
    settings: off,
    roleSettings: [
      { role: 'migrator', database: 'd1', name: 'default_transaction_read_only', value: 'on' },
      { role: 'migrator', database: undefined, name: 'default_transaction_read_only', value: 'off' },
    ],
    role: role(),
  };
  expect(roleReadonlyCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    only: ['d1'],
    fix: { sql: [`ALTER ROLE "migrator" IN DATABASE "d1" SET default_transaction_read_only = 'off'`] },
  });
});
