import { ownCodes } from '../../../redis/failure.ts';
import type { Info } from '../../../redis/info.ts';
import { type Fix, fail, type Outcome, pass, skip, warn } from '../../finding.ts';
import { type Answer, maybe } from '../ask.ts';
import { commands } from '../asks/commands.ts';
import { replication } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check, every } from '../check.ts';
import { disklessOf } from '../diskless.ts';
import { unanswered } from '../findings.ts';
import { setting } from '../fixes.ts';
import type { Ground } from '../ground.ts';
import { probeText } from '../probe.ts';
import { isSentinel, sentinelWords } from '../sentinel.ts';

export const psyncCommand = check({
  id: 'psync-command',
  title: 'the server has PSYNC',
  needs: 'entry',
  mayBlock: every,
  asks: { known: maybe(commands), server: maybe(info), settings: maybe(replication) },
  judge({ known, server, settings }, ground) {
    if (isSentinel(server)) return skip(sentinelWords);
    if (known.kind === 'known' && !known.value.has('ping') && copies.some((name) => known.value.has(name))) {
      return noPing(server);
    }
    if (server.kind === 'missing') return noInfo(server);
    const tried = byProbe(ground);
    if (tried !== undefined) return tried;
    if (known.kind !== 'known') return unanswered(known);
    const { value } = known;
    const canScan = value.has('scan') && value.has('dump');
    if (value.has('psync')) return pass('PSYNC is there');
    if (value.has('sync')) {
      const facts = server.kind === 'known' ? server.value : undefined;
      const { told, isDiskless } = disklessOf(settings, facts);
      if (isDiskless) return silentStream(told, server, facts);
      return warn('PSYNC is not there, SYNC is', {
        required: 'PSYNC',
        detail: 'A replica falls back to SYNC: every break of the connection, however short, copies everything again.',
        fix: unrename(['PSYNC'], server),
      });
    }
    return fail(
      canScan ? ['continuous'] : every,
      canScan ? 'neither PSYNC nor SYNC' : 'neither PSYNC, SYNC nor SCAN with DUMP',
      {
        required: 'PSYNC',
        detail: "The replica gives up: `MASTER aborted replication with an error: ERR unknown command 'SYNC'`.",
        fix: unrename(['PSYNC', 'SYNC'], server),
      },
    );
  },
});

const copies = ['psync', 'sync'];

/** A replica says PING before anything else, and takes no unknown command for an answer. */
function noPing(server: Answer<Info>): Outcome {
  return fail(['continuous'], 'PING is not there', {
    required: 'PING',
    detail: 'The replica greets with PING, is told "unknown command \'PING\'", and its link stays down for ever.',
    fix: unrename(['PING'], server),
  });
}

/** Whoever migrates looks at both sides by INFO all the time. */
function noInfo(server: Answer<Info>): Outcome {
  return fail(['continuous'], 'INFO is not there', {
    required: 'INFO',
    detail: 'A migration reads version, databases and progress of the source by INFO, and ends when that is unknown.',
    fix: unrename(['INFO'], server),
  });
}

/**
 * A replica that came by SYNC confirms its copy once. Where the source sends it without the disk, that may be a moment too early:
 * then the link is up, and nothing that is written ever comes.
 */
function silentStream(told: string | undefined, server: Answer<Info>, facts: Info | undefined): Outcome {
  const text = 'Copies over the disk begin to stream by themselves.';
  return fail(['continuous'], `PSYNC is not there, SYNC is; repl-diskless-sync is ${told ?? 'yes by default'}`, {
    required: 'PSYNC, or repl-diskless-sync no',
    detail:
      'A replica that came by SYNC confirms its copy once only. When that reaches the source before it has seen the copy end, the link is up and the changes never come.',
    fix:
      told === undefined || facts === undefined
        ? unrename(['PSYNC'], server)
        : setting('repl-diskless-sync', 'no', told, facts, text),
  });
}

/** What the server did when it was really asked is worth more than what it lists. */
function byProbe({ probe }: Ground): Outcome | undefined {
  if (probe === undefined) return undefined;
  if (probe.kind === 'accepted') return pass(`PSYNC was accepted: ${probe.reply}`, { detail: probeText });
  if (judgedElsewhere.has(probe.code)) return undefined;
  return fail(['continuous'], `PSYNC was refused: ${probe.message}`, {
    required: '+FULLRESYNC',
    detail: 'The target gets the same answer.',
    fix: { text: 'Ask who runs the server to allow replication to the outside; otherwise only a scan is left.' },
  });
}

/** Rights, a lost primary and what passes have findings of their own. */
const judgedElsewhere: ReadonlySet<string> = new Set([
  'NOPERM',
  'NOAUTH',
  'WRONGPASS',
  'NOMASTERLINK',
  'MASTERDOWN',
  'LOADING',
  'BUSY',
  ownCodes.maxClients,
]);

/** The names are read at start alone. */
export function unrename(names: readonly string[], server: Answer<Info>): Fix {
  const told = server.kind === 'known' ? server.value.get('config_file') : undefined;
  const file = told === undefined || told === '' ? '/etc/redis/redis.conf' : told;
  return {
    shell: [
      `cp -np ${file} ${file}.before-migration`,
      ...names.map((name) => `sed -i '/^ *rename-command  *${name} /Id' ${file}`),
    ],
    undoShell: [`cp -p ${file}.before-migration ${file}`],
    restart: true,
    text: `Take the line that renames ${names.join(' and ')} out of redis.conf (rename-command) and restart; of a provider, ask for replication to the outside. Otherwise only a scan is left.`,
  };
}
