import { createRedisEngine } from '../../../src/db/preflight/redis/engine.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { runPreflight } from '../../../src/db/preflight/run.ts';
import { systemClock } from '../../../src/platform/waiting.ts';
import type { RedisEndpoint } from '../../../src/redis/endpoint.ts';
import { redisEndpointOf } from '../../db/engine/servers.ts';
import { preflightOptions } from '../../db/preflight/redis/preflight-options.ts';
import { type RedisOptions, type RedisProgram, type RedisServer, startRedis } from '../../fixtures/redis.ts';
import { validReport } from '../../fixtures/report-schema.ts';
import type { TruthRow } from '../row.ts';
import type { RedisCase } from './case.ts';
import { applyFixes } from './fix-script.ts';
import { contentsOf, fill, type RedisClientOptions, redisClientOptions, scan, sizes, sizesOfAll } from './keys.ts';
import { canary, migrate, type Plan } from './migrate.ts';

const installed = { redis: 'redis-7.0', valkey: 'valkey-8' } as const;

function releaseOf(program: RedisProgram = 'redis'): string {
  return program === 'redis' || program === 'valkey' ? installed[program] : program;
}

/** The verdict first, then the target really follows; where that fails, every key is read and written. */
export async function runCase(one: RedisCase, patience: number): Promise<TruthRow> {
  const begun = performance.now();
  const servers: RedisServer[] = [];
  const start = async (options: RedisOptions) => {
    const server = await startRedis(options);
    servers.push(server);
    return server;
  };
  const source = await start(one.source ?? {});
  const into: RedisOptions = one.target?.(source) ?? { program: 'valkey' };
  const databases = one.filled ?? [0, 3];
  const prepared = await one.before?.(source);
  try {
    const primaries = (prepared?.primaries ?? [source]).map((server) => redisClientOptions(server, one.password));
    const filled = prepared?.primaries === undefined ? primaries : [];
    for (const options of filled) for (const db of databases) await fill(options, db);
    for (const words of one.last ?? []) source.cli(...words);
    const connection = redisEndpointOf(source, {
      ssl: source.ca === undefined ? 'disable' : 'require',
      ...one.connection,
    });
    const program = into.program ?? 'redis';
    const preflight = () => judge(one, connection, releaseOf(program));
    const first = await preflight();
    const keysBefore = one.fixes && (await contentsOf(primaries, databases, one.fixes.written));
    const { report, remarks } =
      one.fixes === undefined ? { report: first, remarks: [] } : await applyFixes(one.fixes, first, source, preflight);
    const target = await start(into);
    const plan: Plan = { connection, target, into: redisClientOptions(target), primaries, databases, patience };
    const continuous = await migrate(plan);
    const second = continuous.length === 0 ? undefined : await start(into);
    const scanned = second === undefined ? undefined : await copy(plan, connection, second, prepared?.primaries);
    const keysAfter =
      one.fixes === undefined
        ? keysBefore
        : await contentsOf(primaries, databases, [...(one.fixes.written ?? []), canary]);
    const truth = continuous.length === 0 ? 'continuous' : scanned?.length === 0 ? 'scan' : 'blocked';
    const blockers = report.findings.filter(({ status, blocks }) => status === 'fail' && blocks.length > 0);
    const unproven = report.proven
      ? []
      : report.findings.flatMap(({ status, id }) => (status === 'unknown' ? [id] : []));
    return {
      engine: 'redis',
      name: one.name,
      versions: `${releaseOf(one.source?.program)} -> ${releaseOf(program)}`,
      verdict: report.verdict,
      reasons: [...new Set(blockers.map(({ id }) => id))],
      ...(unproven.length === 0 ? {} : { unproven }),
      truth,
      course: [...continuous.map((why) => `continuous: ${why}`), ...(scanned ?? []).map((why) => `scan: ${why}`)],
      databases: [],
      remarks: [...remarks, ...(keysAfter === keysBefore ? [] : ['the keys of the source changed'])],
      ...(one.differs === undefined ? {} : { explained: one.differs.why }),
      seconds: Math.round((performance.now() - begun) / 1000),
    };
  } finally {
    await prepared?.end?.();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function judge(one: RedisCase, connection: RedisEndpoint, targetVersion: string): Promise<PreflightReport> {
  const report = await runPreflight(createRedisEngine({ rateInterval: 500 }), {
    source: connection,
    options: preflightOptions({
      targetVersion,
      disableSsl: connection.ssl === 'disable',
      now: Date.now(),
      ...one.options,
    }),
    clock: systemClock,
    nearest: () => undefined,
    deadline: 20_000,
  });
  return validReport(report);
}

/** As the user of the migration; of a cluster shard by shard. */
async function copy(
  { primaries, databases }: Plan,
  connection: RedisEndpoint,
  target: RedisServer,
  shards: readonly RedisServer[] = [],
): Promise<readonly string[]> {
  const isCluster = shards.length > 1;
  const from: readonly RedisClientOptions[] = isCluster
    ? primaries
    : [
        {
          host: connection.host,
          port: connection.port,
          username: connection.username,
          password: connection.password?.reveal(),
          tls: connection.ssl === 'require',
        },
      ];
  try {
    await scan(from, redisClientOptions(target), databases);
    const [here, there] = [await sizesOfAll(primaries), await sizes(redisClientOptions(target))];
    return here === there ? [] : [`the source has ${here}, the target ${there}`];
  } catch (error) {
    return [`${error instanceof Error ? error.message : error}`];
  }
}
