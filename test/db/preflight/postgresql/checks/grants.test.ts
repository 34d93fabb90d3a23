import { grantsCheck } from '../../../../../src/db/preflight/postgresql/checks/grants.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const none = { grants: 0, owners: 0, defaults: 0, settings: 0 };
const access = (some: Partial<typeof none>) => forBothMethods(grantsCheck, { access: { ...none, ...some } });

testDatabaseCases([
  { what: 'the objects of one superuser', ...access({}), verdict: 'pass' },
  { what: 'privileges on a table', ...access({ grants: 1 }), verdict: 'warn' },
  { what: 'objects of another owner', ...access({ owners: 1 }), verdict: 'warn' },
  { what: 'default privileges', ...access({ defaults: 1 }), verdict: 'warn' },
  { what: 'settings of a database or role', ...access({ settings: 1 }), verdict: 'warn' },
]);
