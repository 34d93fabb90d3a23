import type { Info } from '../../../redis/info.ts';
import { type Fix, fail, type Outcome, pass, warn } from '../../finding.ts';
import { type Answer, maybe, known as valueOr } from '../ask.ts';
import { type Allowed, mayPsync, mayReplconf, maySync, userRules } from '../asks/acl.ts';
import { aclFile, replication } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { disklessOf } from '../diskless.ts';
import { unanswered } from '../findings.ts';
import { grant } from '../fixes.ts';
import type { Ground } from '../ground.ts';
import { isDenied, isOlderThanUsers, rightOf } from './rights.ts';

export const aclPsync = check({
  id: 'acl-psync',
  title: 'the user may ask for replication',
  needs: 'entry',
  mayBlock: ['continuous'],
  asks: {
    psync: maybe(mayPsync),
    sync: maybe(maySync),
    replconf: maybe(mayReplconf),
    rules: maybe(userRules),
    file: maybe(aclFile),
    server: maybe(info),
    settings: maybe(replication),
  },
  judge({ psync: tried, sync, replconf, rules, file, server, settings }, ground) {
    const facts = valueOr<Info, undefined>(server, undefined);
    const psync = probed(ground) ?? rightOf('psync', tried, rules);
    if (isOlderThanUsers(server, psync)) return pass('the server knows no users: who is in may do everything');
    const acknowledging = rightOf('replconf', replconf, rules);
    const isInformed = server.kind !== 'denied';
    const cure = (names: readonly string[]) =>
      grant({
        user: ground.user,
        names: [...names, ...(isInformed ? [] : ['info'])],
        guessed: !isInformed && psync.kind !== 'known',
        aclFile: valueOr(file, new Map<string, string>()).get('aclfile') ?? '',
        info: facts ?? new Map(),
        text: 'Let the user replicate, or give another user.',
      });
    const others = isDenied(acknowledging) ? ['replconf'] : [];
    if (isDenied(psync)) {
      const fix = cure(['psync', ...others, ...pingOf(ground)]);
      const falling = rightOf('sync', sync, rules);
      // Without REPLCONF it never takes the copy of a SYNC to its end.
      const isFalling = isInformed && others.length === 0 && falling.kind === 'known' && falling.value.allowed;
      return isFalling && !disklessOf(settings, facts).isDiskless ? bySync(psync, fix) : refused(psync, ground, fix);
    }
    if (!isInformed) {
      return unwatched(server, ground, cure(psync.kind === 'known' ? others : ['psync', 'replconf']));
    }
    if (psync.kind !== 'known') return unanswered(psync);
    return others.length === 0 ? pass(`${ground.user} may PSYNC`) : limping(ground, cure(others));
  },
});

function refused(psync: Answer<Allowed>, ground: Ground, fix: Fix): Outcome {
  const words = wordsOf(psync);
  return fail(['continuous'], words, {
    required: requiredOf(ground),
    detail: `The replica is refused: \`-NOPERM ${words}\`.`,
    fix,
  });
}

/** The same as where PSYNC is not there: with a copy over the disk the stream begins, without it may stay silent. */
function bySync(psync: Answer<Allowed>, fix: Fix): Outcome {
  return warn(wordsOf(psync), {
    required: '+psync',
    detail: 'A replica falls back to SYNC: every break of the connection, however short, copies everything again.',
    fix,
  });
}

/** Whoever migrates looks at both sides all the time. */
function unwatched({ reason }: { readonly reason: string }, ground: Ground, fix: Fix): Outcome {
  return fail(['continuous'], reason, {
    required: requiredOf(ground),
    detail: 'A migration reads version, databases and progress of the source by INFO, and ends when that is refused.',
    fix,
  });
}

function limping(ground: Ground, fix: Fix): Outcome {
  return warn(`${ground.user} may PSYNC and not REPLCONF`, {
    required: '+replconf',
    detail:
      "The copy runs, and then the source cuts the connection every second, at each acknowledgement: `Replica generated a reply to command 'replconf', disconnecting it`. The stream limps from reconnect to reconnect.",
    fix,
  });
}

function requiredOf({ user }: Ground): string {
  return `+psync +replconf +ping +info for ${user}`;
}

function wordsOf(psync: Answer<Allowed>): string {
  return psync.kind === 'known' ? psync.value.words : psync.reason;
}

/** Only what is missing is granted, so that taking it back restores what was. */
function pingOf({ entry }: Ground): readonly string[] {
  return entry.kind === 'entered' && entry.notice?.code === 'NOPERM' ? ['ping'] : [];
}

function probed({ probe }: Ground): Answer<Allowed> | undefined {
  if (probe?.kind === 'accepted') return { kind: 'known', value: { allowed: true, words: 'OK' } };
  if (probe?.kind === 'refused' && probe.code === 'NOPERM') {
    return { kind: 'known', value: { allowed: false, words: probe.message.replace(/^NOPERM /, '') } };
  }
  return undefined;
}
