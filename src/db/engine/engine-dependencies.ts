import { randomBytes } from 'node:crypto';
import { systemClock } from '../../platform/clock.ts';
import { createDatabaseResponseMemoryLimit } from '../../platform/response-memory.ts';
import { connectPostgresql } from '../../postgresql/connection.ts';
import { connectRedis } from '../../redis/connection.ts';
import { defaultMigrationEngineTimeLimits, type MigrationEngineDependencies } from './migration-engine-input.ts';

/** The engine dependencies of the real system: clock, random bytes and connections. */
export function createMigrationEngineDependencies(
  given: Pick<MigrationEngineDependencies, 'now' | 'journal' | 'schemaCopy'> & Partial<MigrationEngineDependencies>,
): MigrationEngineDependencies {
  const memory = createDatabaseResponseMemoryLimit('statement');
  return {
    sleep: systemClock.sleep,
    random: randomBytes,
    connectPostgres: (source, options) => connectPostgresql(source, { memory, ...options }),
    connectRedis,
    limits: defaultMigrationEngineTimeLimits,
    ...given,
  };
}
