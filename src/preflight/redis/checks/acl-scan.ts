import { type Info, keyspaceOf } from '../../../redis/info.ts';
import { fail, pass } from '../../finding.ts';
import { type Answer, maybe, known as valueOr } from '../ask.ts';
import { mayDump, mayPttl, mayScan, maySelect, mayType, userRules } from '../asks/acl.ts';
import { aclFile } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { unanswered } from '../findings.ts';
import { grant } from '../fixes.ts';
import type { Ground } from '../ground.ts';
import { isDenied, isOlderThanUsers, rightOf } from './rights.ts';

export const aclScan = check({
  id: 'acl-scan',
  title: 'the user may read every key of every database',
  needs: 'entry',
  mayBlock: ['scan'],
  asks: {
    select: maybe(maySelect),
    scan: maybe(mayScan),
    dump: maybe(mayDump),
    pttl: maybe(mayPttl),
    type: maybe(mayType),
    rules: maybe(userRules),
    file: maybe(aclFile),
    server: maybe(info),
  },
  judge(values, ground) {
    const { rules, server } = values;
    const rights = namesFor(server).map((name) => ({ name, right: rightOf(name, values[name], rules) }));
    if (rights.some(({ right }) => isOlderThanUsers(server, right))) return pass('the server knows no users');
    const seen = refusalOf(ground);
    const names = rights
      .filter(({ name, right }) => (isDenied(right) && !isAboutKeys(wordsOf(right))) || name === seen.command)
      .map(({ name }) => name);
    const lacksKeys = seen.isAboutKeys || rights.some(({ right }) => isDenied(right) && isAboutKeys(wordsOf(right)));
    if (names.length === 0 && !lacksKeys) {
      const unasked = rights.flatMap(({ right }) => (right.kind === 'known' ? [] : [right]))[0];
      return unasked === undefined
        ? pass(`${ground.user} may ${namesFor(server).join(', ').toUpperCase()}`)
        : unanswered(unasked);
    }
    const open = rights.flatMap(({ name, right }) => (right.kind === 'known' || name === seen.command ? [] : [name]));
    const file = valueOr(values.file, new Map<string, string>()).get('aclfile') ?? '';
    const missing = [...names.map((name) => name.toUpperCase()), ...(lacksKeys ? ['some keys'] : [])];
    return fail(['scan'], `${ground.user} may not: ${missing.join(', ')}`, {
      required: `${namesFor(server)
        .map((name) => `+${name}`)
        .join(' ')} ~* for ${ground.user}`,
      detail: 'A scan is refused: `-NOPERM`. Replication needs none of it.',
      fix: grant({
        user: ground.user,
        names: namesFor(server).filter((name) => names.includes(name) || open.includes(name)),
        allKeys: lacksKeys,
        keysBefore: valueOr(rules, undefined)?.keys,
        guessed: open.length > 0,
        aclFile: file,
        info: valueOr(server, new Map<string, string>()),
        text: 'Let the user read all keys, or give another user.',
      }),
    });
  },
});

type Name = 'select' | 'scan' | 'dump' | 'pttl' | 'type';

/** A new connection is in database 0, so only keys elsewhere need SELECT; where they are may not be told. */
function namesFor(server: Answer<Info>): readonly Name[] {
  const isAlone = server.kind === 'known' && keyspaceOf(server.value).every(({ index }) => index === 0);
  return [...(isAlone ? [] : (['select'] as const)), 'scan', 'dump', 'pttl', 'type'];
}

/** What the sample was refused, which was sent for real: `+select|0` lets a user into database 0 alone. */
function refusalOf({ sample }: Ground): { readonly command?: string | undefined; readonly isAboutKeys: boolean } {
  if (sample.kind !== 'denied') return { isAboutKeys: false };
  const [, command] = /'([a-z]+)' command/i.exec(sample.reason) ?? [];
  return { command, isAboutKeys: isAboutKeys(sample.reason) };
}

function isAboutKeys(words: string): boolean {
  return /permissions to access/i.test(words);
}

function wordsOf(right: ReturnType<typeof rightOf>): string {
  return right.kind === 'known' ? right.value.words : '';
}
