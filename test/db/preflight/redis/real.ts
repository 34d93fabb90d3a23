import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import { createRedisEngine } from '../../../../src/db/preflight/redis/engine.ts';
import type { PreflightReport } from '../../../../src/db/preflight/report.ts';
import { runPreflight } from '../../../../src/db/preflight/run.ts';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { parseRedisEndpoint, type RedisEndpointInput } from '../../../../src/redis/endpoint.ts';
import { eventually, type RedisOptions, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { validReport } from '../../../fixtures/report-schema.ts';
import { preflightOptions } from './preflight-options.ts';

export interface Run {
  readonly report: PreflightReport;
  /** Every command that was sent, as told by `onQuery`. */
  readonly said: readonly string[];
  finding(id: string): CheckFinding;
}

/** A preflight of a real server, with a short look at its rates. */
export async function preflight(
  server: Pick<RedisServer, 'host' | 'port' | 'ca'>,
  parts: RedisEndpointInput = {},
  wishes: Partial<PreflightOptions> = {},
  deadline = 20_000,
  heard: (text: string) => void = () => {},
): Promise<Run> {
  const said: string[] = [];
  const disableSsl = parts.disableSsl ?? server.ca === undefined;
  const place = parts.url === undefined ? { host: server.host, port: server.port } : {};
  const { source } = parseRedisEndpoint({ ...place, ...(parts.url === undefined ? { disableSsl } : {}), ...parts });
  const report = await runPreflight(createRedisEngine({ rateInterval: 250 }), {
    source,
    options: preflightOptions({ disableSsl, now: Date.now(), ...wishes }),
    clock: systemClock,
    nearest: () => undefined,
    deadline,
    onQuery: (_place, text) => {
      said.push(text);
      heard(text);
    },
  });
  return {
    report: validReport(report),
    said,
    finding(id) {
      const found = report.findings.find((one) => one.id === id);
      if (found === undefined) throw new Error(`no finding is called ${id}`);
      return found;
    },
  };
}

/** Starts a server, does the work, and stops it whatever happens. */
export async function withRedis<T>(options: RedisOptions, work: (server: RedisServer) => Promise<T>): Promise<T> {
  const server = await startRedis(options);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** The ids of the findings that are no pass and no information. */
export function alarms({ findings }: PreflightReport): readonly string[] {
  return findings.filter(({ status }) => status !== 'pass' && status !== 'info').map(({ id }) => id);
}

/** Sends one thing over and over on a connection of its own until it is told to stop; by default it writes. */
export function write(port: number, once?: string): () => void {
  const socket = connect(port, '127.0.0.1');
  const value = 'x'.repeat(10_000);
  let at = 0;
  const command = () => {
    at = (at + 1) % 1000;
    return `SET k${at} ${value}\r\n`;
  };
  socket.on('data', () => {}).on('error', () => {});
  if (once !== undefined) socket.write(once);
  const timer =
    once === undefined ? setInterval(() => socket.write(Array.from({ length: 10 }, command).join('')), 10) : undefined;
  return () => {
    clearInterval(timer);
    socket.destroy();
  };
}

/** Makes the next BGSAVE fail, and runs it. */
export async function breakSaving(server: RedisServer): Promise<void> {
  server.cli('config', 'set', 'dbfilename', 'dump.rdb');
  mkdirSync(join(server.folder, 'data', 'dump.rdb'));
  writeFileSync(join(server.folder, 'data', 'dump.rdb', 'in-the-way'), '');
  server.cli('bgsave');
  await eventually(() => server.cli('info').includes('rdb_last_bgsave_status:err'), 'a failed BGSAVE');
}
