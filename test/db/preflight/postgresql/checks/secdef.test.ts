import { secdefCheck } from '../../../../../src/db/preflight/postgresql/checks/secdef.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

const loose = {
  name: 'public.f()',
  owner: 'postgres',
  securityDefiner: true,
  untrusted: undefined,
  library: undefined,
  locales: [],
  superuserSettings: [],
};

testDatabaseCases([
  {
    what: 'a definer who is no superuser',
    ...forBothMethods(secdefCheck, { markedFunctions: [loose], superusers: ['other'] }),
    verdict: 'pass',
  },
  {
    what: 'a definer who is a superuser',
    ...forBothMethods(secdefCheck, { markedFunctions: [loose], superusers: ['postgres'] }),
    verdict: 'warn',
  },
  {
    what: 'an invoker in C',
    ...forBothMethods(secdefCheck, {
      markedFunctions: [{ ...loose, securityDefiner: false }],
      superusers: ['postgres'],
    }),
    verdict: 'pass',
  },
]);
