import { infoNumber, type RedisInfo } from '../../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { fail, pass, unknown, warn } from '../../finding.ts';
import { formatBytes } from '../../formats/report-text.ts';
import { redisCheck } from '../check.ts';
import { type CopyEstimate, estimateCopy, writeRateText } from '../copy-estimate.ts';
import { configSetFix } from '../fixes.ts';
import { outputBufferConfigQuery, type RedisConfigValues, replicationConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const replicaOutputBufferCheck = redisCheck({
  id: 'replica-output-buffer',
  title: 'what is written during the copy fits the output buffer',
  needs: 'entry',
  mayBlock: ['continuous'],
  queries: { server: infoQuery, limits: outputBufferConfigQuery, settings: optionalQuery(replicationConfigQuery) },
  evaluate({ server, limits, settings }, ground) {
    const limit = limitOf(limits.get('client-output-buffer-limit') ?? '');
    const load = estimateCopy(server);
    if (limit === undefined || load === undefined) return unknown('the limit of replicas cannot be read');
    const hard = effective(limit.hard, server, settings.kind === 'known' ? settings.value : undefined);
    const observed = `${limit.name} ${limit.hard} ${limit.soft} ${limit.seconds}`;
    if (hard === 0 && limit.soft === 0) return pass(`${observed}: no limit`);
    const sums = arithmetic(hard, limit, load, ground);
    if (sums.isEnough) return pass(observed, { detail: sums.text });
    const more = {
      required: `${limit.name} 0 0 0, or a hard limit of ${formatBytes(sums.wanted)}`,
      detail: `${sums.text} When it is full the source ends the copy: \`scheduled to be closed ASAP for overcoming of output buffer limits\`; the target begins again, for ever.`,
      fix: configSetFix(
        'client-output-buffer-limit',
        `${limit.name} 0 0 0`,
        observed,
        server,
        'Lift the limit while the migration runs, and watch the memory.',
      ),
    };
    return sums.isHopeless ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

interface Limit {
  /** `replica`, or `slave` as older servers and Valkey write it. */
  readonly name: string;
  readonly hard: number;
  readonly soft: number;
  readonly seconds: number;
}

/** `normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60` */
function limitOf(value: string): Limit | undefined {
  const [, name, hard, soft, seconds] = /\b(slave|replica) (\d+) (\d+) (\d+)/.exec(value) ?? [];
  return name === undefined ? undefined : { name, hard: Number(hard), soft: Number(soft), seconds: Number(seconds) };
}

/** From 7.0 on the backlog is the buffer, and a limit below its size is not obeyed. */
function effective(hard: number, server: RedisInfo, settings: RedisConfigValues | undefined): number {
  const version = parseServerVersion(server);
  const shares = version?.product === 'valkey' || (version !== undefined && isVersionAtLeast(version, 7, 0));
  const backlog = Number(settings?.get('repl-backlog-size') ?? infoNumber(server, 'repl_backlog_size') ?? 0);
  return hard > 0 && shares ? Math.max(hard, backlog) : hard;
}

/** client-output-buffer-limit replica 256mb 64mb 60 */
const defaultHard = 256 * 2 ** 20;

function arithmetic(hard: number, limit: Limit, load: CopyEstimate, ground: RedisSourceFacts) {
  const seconds = Math.ceil(load.longest);
  const copy = `${formatBytes(load.bytes)} to copy in ${Math.ceil(load.shortest)} to ${seconds} s`;
  const { rate } = ground;
  if (rate?.writes === undefined) {
    const wanted = load.bytes / 5;
    const isEnough = hard === 0 || hard >= wanted;
    const text = `${copy}; ${writeRateText(ground, formatBytes)}; a fifth of the data, ${formatBytes(wanted)}, is advised.`;
    return { wanted, isEnough, isHopeless: false, text };
  }
  const filling = rate.writes;
  const filled = filling * seconds;
  if (filled === 0) {
    // One quiet second says little: a limit below the default must at least hold a fifth of the data.
    const wanted = Math.min(load.bytes / 5, defaultHard);
    const text = `${copy}; ${writeRateText(ground, formatBytes)}; ${formatBytes(wanted)} is advised, ${formatBytes(hard)} allowed.`;
    return { wanted, isEnough: hard === 0 || hard >= wanted, isHopeless: false, text };
  }
  const isOverHard = hard > 0 && filled > hard;
  const isFullInAMinute = hard > 0 && hard < rate.writes * 60;
  // Full after so many seconds, and then for longer than is allowed; what is written is above zero here.
  const isOverSoft = (copying: number) => limit.soft > 0 && copying - limit.soft / filling > limit.seconds;
  const isSoftOverInAMinute = limit.soft / filling + limit.seconds < 60 && isOverSoft(load.shortest);
  const text = `${copy} x ${writeRateText(ground, formatBytes)} = ${formatBytes(filled)} waiting, ${formatBytes(hard)} allowed${
    limit.soft > 0 ? `, ${formatBytes(limit.soft)} for ${limit.seconds} s` : ''
  }.`;
  return {
    wanted: Math.max(filled * 3, rate.writes * 60),
    isEnough: !isOverHard && !isOverSoft(seconds) && !isFullInAMinute,
    // Measured on the network it is only the most it can be, and proves nothing.
    isHopeless: (isFullInAMinute || isSoftOverInAMinute) && rate.source !== 'network',
    text,
  };
}
