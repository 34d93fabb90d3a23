import { randomBytes } from 'node:crypto';
import { systemClock } from '../platform/clock.ts';
import { createResponseMemory } from '../platform/response-memory.ts';
import { connectPostgresql } from '../postgresql/connection.ts';
import { connectRedis } from '../redis/connection.ts';
import { defaultEngineLimits, type EngineDependencies } from './migration-job.ts';

/** The engine dependencies of the real system: clock, random bytes and connections. */
export function createEngineDependencies(
  given: Pick<EngineDependencies, 'now' | 'journal' | 'schemaCopy'> & Partial<EngineDependencies>,
): EngineDependencies {
  const memory = createResponseMemory('statement');
  return {
    sleep: systemClock.sleep,
    random: randomBytes,
    connectPostgres: (source, options) => connectPostgresql(source, { memory, ...options }),
    connectRedis,
    limits: defaultEngineLimits,
    ...given,
  };
}
