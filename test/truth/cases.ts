import { applicationSchemaCases } from './postgresql/cases/application-schemas.ts';
import { beyondDumpCases } from './postgresql/cases/beyond-dump.ts';
import { changedResultCases } from './postgresql/cases/changed-results.ts';
import { connectionCases } from './postgresql/cases/connection.ts';
import { databaseCases } from './postgresql/cases/database.ts';
import { deepCases } from './postgresql/cases/deep.ts';
import { derivedValueCases } from './postgresql/cases/derived-values.ts';
import { dumpOptionsCases } from './postgresql/cases/dump-options.ts';
import { dumpOrderCases } from './postgresql/cases/dump-order.ts';
import { fixedCases } from './postgresql/cases/fixed.ts';
import { newerReleaseCases } from './postgresql/cases/newer-release.ts';
import { roleCases } from './postgresql/cases/role.ts';
import { rowIdentityCases } from './postgresql/cases/row-identity.ts';
import { serverCases } from './postgresql/cases/server.ts';
import { serverHistoryCases } from './postgresql/cases/server-history.ts';
import { settingsLostCases } from './postgresql/cases/settings-lost.ts';
import { targetCases } from './postgresql/cases/target.ts';
import { unreadableCases } from './postgresql/cases/unreadable.ts';
import { unusualServerCases } from './postgresql/cases/unusual-server.ts';
import { redisCases } from './redis/cases.ts';
import { fixedRedisCases } from './redis/fixed-cases.ts';
import { releaseCases } from './redis/release-cases.ts';
import { streamCases } from './redis/stream-cases.ts';

/** The same on every machine, because docs/truth.md counts them; `isWanted` leaves out what this machine cannot run. */
export const cases = {
  postgresql: [
    ...serverCases,
    ...connectionCases,
    ...roleCases,
    ...unusualServerCases,
    ...databaseCases,
    ...rowIdentityCases,
    ...beyondDumpCases,
    ...newerReleaseCases,
    ...settingsLostCases,
    ...unreadableCases,
    ...derivedValueCases,
    ...changedResultCases,
    ...applicationSchemaCases,
    ...dumpOptionsCases,
    ...dumpOrderCases,
    ...serverHistoryCases,
    ...deepCases,
    ...targetCases,
    ...fixedCases,
  ],
  redis: [...redisCases, ...fixedRedisCases, ...releaseCases, ...streamCases],
} as const;
