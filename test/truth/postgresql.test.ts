import { afterAll, describe, vi } from 'vitest';
import { checkRows } from './check-rows.ts';
import { beyondDumpCases } from './postgresql/cases/beyond-dump.ts';
import { databaseCases } from './postgresql/cases/database.ts';
import { newerReleaseCases } from './postgresql/cases/newer-release.ts';
import { oddServerCases } from './postgresql/cases/odd-server.ts';
import { roleCases } from './postgresql/cases/role.ts';
import { serverCases } from './postgresql/cases/server.ts';
import { settingsLostCases } from './postgresql/cases/settings-lost.ts';
import { unreadableCases } from './postgresql/cases/unreadable.ts';
import { wayInCases } from './postgresql/cases/way-in.ts';
import { runCase } from './postgresql/run.ts';
import { openYard } from './postgresql/yard.ts';
import { isFull, isWanted } from './row.ts';

vi.setConfig({ hookTimeout: 3_600_000 });

const cases = [
  ...serverCases,
  ...wayInCases,
  ...roleCases,
  ...oddServerCases,
  ...databaseCases,
  ...beyondDumpCases,
  ...newerReleaseCases,
  ...settingsLostCases,
  ...unreadableCases,
].filter(isWanted);

describe('the verdict on a PostgreSQL source is what really happens', () => {
  const yard = openYard();
  afterAll(() => yard.close());
  checkRows(cases, (one) => runCase(one, yard, isFull ? 20_000 : 12_000));
});
