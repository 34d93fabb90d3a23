import { fail, type Method, type Outcome, pass, warn } from '../../finding.ts';
import { type Answer, maybe, known as valueOr } from '../ask.ts';
import {
  type Allowed,
  mayDump,
  mayPsync,
  mayPttl,
  mayReplconf,
  mayScan,
  maySync,
  mayType,
  userRules,
} from '../asks/acl.ts';
import { aclFile } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check, every } from '../check.ts';
import { unanswered } from '../findings.ts';
import { grant } from '../fixes.ts';
import type { Ground } from '../ground.ts';
import { isGranted } from './acl-rules.ts';

const asks = {
  psync: maybe(mayPsync),
  sync: maybe(maySync),
  replconf: maybe(mayReplconf),
  scan: maybe(mayScan),
  dump: maybe(mayDump),
  pttl: maybe(mayPttl),
  type: maybe(mayType),
  rules: maybe(userRules),
  file: maybe(aclFile),
  server: maybe(info),
};

export const aclPsync = check({
  id: 'acl-psync',
  title: 'the user may ask for replication',
  needs: 'entry',
  mayBlock: every,
  asks,
  judge(values, ground) {
    const server = valueOr(values.server, new Map<string, string>());
    const right = (name: RightName): Answer<Allowed> => rightOf(name, values[name], values.rules);
    const psync = probed(ground) ?? right('psync');
    if (isOlderThanUsers(values, psync)) return pass('the server knows no users: who is in may do everything');
    if (psync.kind !== 'known') return unanswered(psync);
    const file = valueOr(values.file, new Map<string, string>()).get('aclfile') ?? '';
    const cure = (names: readonly string[]) =>
      grant(ground.user, names, file, server, 'Let the user replicate, or give another user.');
    const scanning = scanNames.filter((name) => isDenied(right(name)));
    if (psync.value.allowed) return allowed(ground, right('replconf'), scanning, cure);
    const blocks: readonly Method[] = scanning.length === 0 ? ['continuous'] : every;
    return fail(blocks, psync.value.words, {
      required: `+psync +replconf +ping for ${ground.user}`,
      detail: `The replica is refused: \`-NOPERM ${psync.value.words}\`.${
        scanning.length === 0 ? '' : ` A scan is refused as well: ${scanning.join(', ')}.`
      }`,
      fix: cure(['psync', ...(isDenied(right('replconf')) ? ['replconf'] : []), ...pingOf(ground), ...scanning]),
    });
  },
});

type RightName = 'psync' | 'sync' | 'replconf' | 'scan' | 'dump' | 'pttl' | 'type';
const scanNames: readonly RightName[] = ['scan', 'dump', 'pttl', 'type'];

function allowed(
  ground: Ground,
  replconf: Answer<Allowed>,
  scanning: readonly string[],
  cure: (names: readonly string[]) => ReturnType<typeof grant>,
): Outcome {
  const note = scanning.length === 0 ? {} : { detail: `A scan would be refused: ${scanning.join(', ')}.` };
  if (!isDenied(replconf)) return pass(`${ground.user} may PSYNC`, note);
  return warn(`${ground.user} may PSYNC and not REPLCONF`, {
    required: '+replconf',
    detail:
      "The copy runs, and then the source cuts the connection every second, at each acknowledgement: `Replica generated a reply to command 'replconf', disconnecting it`. The stream limps from reconnect to reconnect.",
    fix: cure(['replconf']),
  });
}

/** Only what is missing is granted, so that taking it back restores what was. */
function pingOf({ entry }: Ground): readonly string[] {
  return entry.kind === 'entered' && entry.notice?.code === 'NOPERM' ? ['ping'] : [];
}

/** ACL DRYRUN says it itself (7.0); before, the rules of the user do. */
function rightOf(name: RightName, tried: Answer<Allowed>, rules: Answer<readonly string[]>): Answer<Allowed> {
  if (tried.kind === 'known' || rules.kind !== 'known') return tried.kind === 'missing' ? asRight(rules) : tried;
  const allowedByRules = isGranted(rules.value, name);
  const words = `this user has no permissions to run the '${name}' command`;
  return { kind: 'known', value: { allowed: allowedByRules, words: allowedByRules ? 'OK' : words } };
}

/** Without rules the answer to the question about rules is what there is to tell. */
function asRight(rules: Answer<readonly string[]>): Answer<Allowed> {
  return rules.kind === 'known' ? { kind: 'failed', reason: 'ACL DRYRUN is not there', broke: false } : rules;
}

function probed({ probe }: Ground): Answer<Allowed> | undefined {
  if (probe?.kind === 'accepted') return { kind: 'known', value: { allowed: true, words: 'OK' } };
  if (probe?.kind === 'refused' && probe.code === 'NOPERM') {
    return { kind: 'known', value: { allowed: false, words: probe.message.replace(/^NOPERM /, '') } };
  }
  return undefined;
}

function isDenied(right: Answer<Allowed>): boolean {
  return right.kind === 'known' && !right.value.allowed;
}

/** Users came with 6.0; a newer server that hides ACL is another matter. */
function isOlderThanUsers(
  values: { readonly server: Answer<ReadonlyMap<string, string>> },
  psync: Answer<Allowed>,
): boolean {
  if (psync.kind !== 'missing' || values.server.kind !== 'known') return false;
  return Number(/^\d+/.exec(values.server.value.get('redis_version') ?? '')?.[0] ?? 6) < 6;
}
