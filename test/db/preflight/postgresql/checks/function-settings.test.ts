import { functionSettingsCheck } from '../../../../../src/db/preflight/postgresql/checks/function-settings.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const plain = {
  name: 'public.f()',
  owner: 'ada',
  securityDefiner: true,
  untrusted: undefined,
  library: undefined,
  locales: [],
  superuserSettings: [],
};

testDatabaseCases([
  {
    what: 'settings that every user may give',
    ...forBothMethods(functionSettingsCheck, { markedFunctions: [plain] }),
    verdict: 'pass',
  },
  {
    what: 'a custom setting and one of superusers',
    ...forBothMethods(functionSettingsCheck, {
      markedFunctions: [{ ...plain, superuserSettings: ['my.own', 'log_statement'] }],
    }),
    verdict: 'fail continuous+dump',
  },
]);
