import { expect, test } from 'vitest';
import { storedRoleCheck } from '../../../../../src/db/preflight/postgresql/checks/stored-role.ts';
import { preflightOptions, role, short, sourceFacts } from '../facts.ts';

const stored = new Map([
  ['bare', false],
  ['root', true],
]);
const setting = (value: string, database?: string, of?: string) => ({ role: of, database, name: 'role', value });

test.each([
  { what: 'nothing', all: [] },
  { what: 'none', all: [setting('none')] },
  { what: 'the role itself', all: [setting('migrator')] },
  { what: 'another superuser', all: [setting('root')] },
  { what: 'a role that does not exist', all: [setting('gone')] },
  {
    what: 'none for the role, another one for the database',
    all: [setting('bare', 'd1'), setting('none', undefined, 'migrator')],
  },
])('$what is stored: the check passes', ({ all }) => {
  const facts = { roleSettings: all, stored, role: role() };
  expect(short(storedRoleCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe('pass');
});

test('another role for one database prevents the replication of that one', () => {
  const facts = { roleSettings: [setting('bare', 'd1')], stored, role: role() };
  const outcome = storedRoleCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('fail continuous');
  expect(outcome).toMatchObject({
    only: ['d1'],
    fix: { sql: [`ALTER ROLE "migrator" SET role = 'none'`], undo: ['ALTER ROLE "migrator" RESET role'] },
  });
});

test('another role for all databases prevents all of it', () => {
  const facts = { roleSettings: [setting('bare', undefined, 'migrator')], stored, role: role() };
  expect(storedRoleCheck.evaluate(facts, sourceFacts(), preflightOptions())).not.toHaveProperty('only');
});
