import { ddlActivityCheck } from '../../../../../src/db/preflight/postgresql/checks/ddl-activity.ts';
import { forBothMethods, testDatabaseCases } from '../database-cases.ts';

testDatabaseCases([
  { what: 'a quiet schema', ...forBothMethods(ddlActivityCheck, { extensions: [], recentDdl: [] }), verdict: 'pass' },
  {
    what: 'the mere presence of an extension that can make tables',
    ...forBothMethods(ddlActivityCheck, {
      extensions: [{ name: 'pg_partman', version: '5', schema: 'public', hasUserRows: false }],
      recentDdl: [],
    }),
    verdict: 'pass',
  },
  {
    what: 'an extension that makes none',
    ...forBothMethods(ddlActivityCheck, {
      extensions: [{ name: 'hstore', version: '1', schema: 'public', hasUserRows: false }],
      recentDdl: [],
    }),
    verdict: 'pass',
  },
  {
    what: 'a table altered today',
    ...forBothMethods(ddlActivityCheck, { extensions: [], recentDdl: ['public.t'] }),
    verdict: 'warn',
    dumped: 'info',
  },
]);
