import { afterAll, describe, vi } from 'vitest';
import { checkRows } from './check-rows.ts';
import { applicationSchemaCases } from './postgresql/cases/application-schemas.ts';
import { beyondDumpCases } from './postgresql/cases/beyond-dump.ts';
import { connectionCases } from './postgresql/cases/connection.ts';
import { databaseCases } from './postgresql/cases/database.ts';
import { derivedValueCases } from './postgresql/cases/derived-values.ts';
import { dumpOptionsCases } from './postgresql/cases/dump-options.ts';
import { fixedCases } from './postgresql/cases/fixed.ts';
import { newerReleaseCases } from './postgresql/cases/newer-release.ts';
import { roleCases } from './postgresql/cases/role.ts';
import { serverCases } from './postgresql/cases/server.ts';
import { serverHistoryCases } from './postgresql/cases/server-history.ts';
import { settingsLostCases } from './postgresql/cases/settings-lost.ts';
import { unreadableCases } from './postgresql/cases/unreadable.ts';
import { unusualServerCases } from './postgresql/cases/unusual-server.ts';
import { runCase } from './postgresql/run.ts';
import { openServerPool } from './postgresql/server-pool.ts';
import { isFull, isWanted } from './row.ts';

vi.setConfig({ hookTimeout: 3_600_000 });

const cases = [
  ...serverCases,
  ...connectionCases,
  ...roleCases,
  ...unusualServerCases,
  ...databaseCases,
  ...beyondDumpCases,
  ...newerReleaseCases,
  ...settingsLostCases,
  ...unreadableCases,
  ...derivedValueCases,
  ...applicationSchemaCases,
  ...dumpOptionsCases,
  ...serverHistoryCases,
  ...fixedCases,
].filter(isWanted);

describe('the verdict on a PostgreSQL source is what really happens', () => {
  const yard = openServerPool();
  afterAll(() => yard.close());
  checkRows(cases, (one) => runCase(one, yard, isFull ? 20_000 : 12_000));
});
