import { randomBytes } from 'node:crypto';
import { systemClock } from '../platform/clock.ts';
import { connect as connectPostgres } from '../postgresql/connection.ts';
import { connect as connectRedis } from '../redis/connection.ts';
import { type EnginePorts, usualWaits } from './job.ts';

/** The real machine and real servers; what differs from caller to caller is given. */
export function machinePorts(
  own: Pick<EnginePorts, 'now' | 'journal' | 'schemaCopy'> & Partial<EnginePorts>,
): EnginePorts {
  return { sleep: systemClock.sleep, random: randomBytes, connectPostgres, connectRedis, waits: usualWaits, ...own };
}
