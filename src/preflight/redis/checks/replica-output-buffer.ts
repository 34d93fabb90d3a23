import { type Info, numberIn } from '../../../redis/info.ts';
import { isAtLeast, serverVersion } from '../../../redis/version.ts';
import { fail, pass, unknown, warn } from '../../finding.ts';
import { bytesText } from '../../formats/shared.ts';
import { maybe } from '../ask.ts';
import { bufferLimits, type Config, replication } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { setting } from '../fixes.ts';
import type { Ground } from '../ground.ts';
import { type Load, loadOf, rateText } from '../load.ts';

export const replicaOutputBuffer = check({
  id: 'replica-output-buffer',
  title: 'what is written during the copy fits the output buffer',
  needs: 'entry',
  mayBlock: ['continuous'],
  asks: { server: info, limits: bufferLimits, settings: maybe(replication) },
  judge({ server, limits, settings }, ground) {
    const limit = limitOf(limits.get('client-output-buffer-limit') ?? '');
    const load = loadOf(server);
    if (limit === undefined || load === undefined) return unknown('the limit of replicas cannot be read');
    const hard = effective(limit.hard, server, settings.kind === 'known' ? settings.value : undefined);
    const observed = `${limit.name} ${limit.hard} ${limit.soft} ${limit.seconds}`;
    if (hard === 0 && limit.soft === 0) return pass(`${observed}: no limit`);
    const sums = arithmetic(hard, limit, load, ground);
    if (sums.isEnough) return pass(observed, { detail: sums.text });
    const more = {
      required: `${limit.name} 0 0 0, or a hard limit of ${bytesText(sums.wanted)}`,
      detail: `${sums.text} When it is full the source ends the copy: \`scheduled to be closed ASAP for overcoming of output buffer limits\`; the target begins again, for ever.`,
      fix: setting(
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
function effective(hard: number, server: Info, settings: Config | undefined): number {
  const version = serverVersion(server);
  const shares = version?.flavor === 'valkey' || (version !== undefined && isAtLeast(version, 7, 0));
  const backlog = Number(settings?.get('repl-backlog-size') ?? numberIn(server, 'repl_backlog_size') ?? 0);
  return hard > 0 && shares ? Math.max(hard, backlog) : hard;
}

/** client-output-buffer-limit replica 256mb 64mb 60 */
const defaultHard = 256 * 2 ** 20;

function arithmetic(hard: number, limit: Limit, load: Load, ground: Ground) {
  const seconds = Math.ceil(load.longest);
  const copy = `${bytesText(load.bytes)} to copy in ${Math.ceil(load.shortest)} to ${seconds} s`;
  const { rate } = ground;
  if (rate?.writes === undefined) {
    const wanted = load.bytes / 5;
    const isEnough = hard === 0 || hard >= wanted;
    const text = `${copy}; ${rateText(ground, bytesText)}; a fifth of the data, ${bytesText(wanted)}, is advised.`;
    return { wanted, isEnough, isHopeless: false, text };
  }
  const filling = rate.writes;
  const filled = filling * seconds;
  if (filled === 0) {
    // One quiet second says little: a limit below the default must at least hold a fifth of the data.
    const wanted = Math.min(load.bytes / 5, defaultHard);
    const text = `${copy}; ${rateText(ground, bytesText)}; ${bytesText(wanted)} is advised, ${bytesText(hard)} allowed.`;
    return { wanted, isEnough: hard === 0 || hard >= wanted, isHopeless: false, text };
  }
  const isOverHard = hard > 0 && filled > hard;
  const isFullInAMinute = hard > 0 && hard < rate.writes * 60;
  // Full after so many seconds, and then for longer than is allowed; what is written is above zero here.
  const isOverSoft = (copying: number) => limit.soft > 0 && copying - limit.soft / filling > limit.seconds;
  const isSoftOverInAMinute = limit.soft / filling + limit.seconds < 60 && isOverSoft(load.shortest);
  const text = `${copy} x ${rateText(ground, bytesText)} = ${bytesText(filled)} waiting, ${bytesText(hard)} allowed${
    limit.soft > 0 ? `, ${bytesText(limit.soft)} for ${limit.seconds} s` : ''
  }.`;
  return {
    wanted: Math.max(filled * 3, rate.writes * 60),
    isEnough: !isOverHard && !isOverSoft(seconds) && !isFullInAMinute,
    // Measured on the network it is only the most it can be, and proves nothing.
    isHopeless: (isFullInAMinute || isSoftOverInAMinute) && rate.source !== 'network',
    text,
  };
}
