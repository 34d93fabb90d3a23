import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { fail, pass } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { commandPermission, isBeforeAcl, isDenied } from '../command-permission.ts';
import { unansweredOutcome } from '../findings.ts';
import { aclGrantFix } from '../fixes.ts';
import {
  aclUserRulesQuery,
  dumpDryRunQuery,
  pttlDryRunQuery,
  scanDryRunQuery,
  selectDryRunQuery,
  typeDryRunQuery,
} from '../queries/acl.ts';
import { aclfileConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult, resultOr as valueOr } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const aclScanCheck = redisCheck({
  id: 'acl-scan',
  title: 'the user may read every key of every database',
  needs: 'entry',
  mayBlock: ['scan'],
  queries: {
    select: optionalQuery(selectDryRunQuery),
    scan: optionalQuery(scanDryRunQuery),
    dump: optionalQuery(dumpDryRunQuery),
    pttl: optionalQuery(pttlDryRunQuery),
    type: optionalQuery(typeDryRunQuery),
    rules: optionalQuery(aclUserRulesQuery),
    file: optionalQuery(aclfileConfigQuery),
    server: optionalQuery(infoQuery),
  },
  evaluate(values, ground) {
    const { rules, server } = values;
    const rights = namesFor(server).map((name) => ({ name, right: commandPermission(name, values[name], rules) }));
    if (rights.some(({ right }) => isBeforeAcl(server, right))) return pass('the server knows no users');
    const seen = refusalOf(ground);
    const names = rights
      .filter(({ name, right }) => (isDenied(right) && !isAboutKeys(wordsOf(right))) || name === seen.command)
      .map(({ name }) => name);
    const lacksKeys = seen.isAboutKeys || rights.some(({ right }) => isDenied(right) && isAboutKeys(wordsOf(right)));
    if (names.length === 0 && !lacksKeys) {
      const unasked = rights.flatMap(({ right }) => (right.kind === 'known' ? [] : [right]))[0];
      return unasked === undefined
        ? pass(`${ground.user} may ${namesFor(server).join(', ').toUpperCase()}`)
        : unansweredOutcome(unasked);
    }
    const open = rights.flatMap(({ name, right }) => (right.kind === 'known' || name === seen.command ? [] : [name]));
    const file = valueOr(values.file, new Map<string, string>()).get('aclfile') ?? '';
    const missing = [...names.map((name) => name.toUpperCase()), ...(lacksKeys ? ['some keys'] : [])];
    return fail(['scan'], `${ground.user} may not: ${missing.join(', ')}`, {
      required: `${namesFor(server)
        .map((name) => `+${name}`)
        .join(' ')} ~* for ${ground.user}`,
      detail: 'A scan is refused: `-NOPERM`. Replication needs none of it.',
      fix: aclGrantFix({
        user: ground.user,
        names: namesFor(server).filter((name) => names.includes(name) || open.includes(name)),
        allKeys: lacksKeys,
        keysBefore: valueOr(rules, undefined)?.keys,
        isGuessed: open.length > 0,
        aclFile: file,
        info: valueOr(server, new Map<string, string>()),
        text: 'Let the user read all keys, or give another user.',
      }),
    });
  },
});

type Name = 'select' | 'scan' | 'dump' | 'pttl' | 'type';

/** A new connection is in database 0, so only keys elsewhere need SELECT; where they are may not be told. */
function namesFor(server: RedisQueryResult<RedisInfo>): readonly Name[] {
  const isAlone = server.kind === 'known' && parseKeyspace(server.value).every(({ index }) => index === 0);
  return [...(isAlone ? [] : (['select'] as const)), 'scan', 'dump', 'pttl', 'type'];
}

/** What the sample was refused, which was sent for real: `+select|0` lets a user into database 0 alone. */
function refusalOf({ sample }: RedisSourceFacts): {
  readonly command?: string | undefined;
  readonly isAboutKeys: boolean;
} {
  if (sample.kind !== 'denied') return { isAboutKeys: false };
  const [, command] = /'([a-z]+)' command/i.exec(sample.reason) ?? [];
  return { command, isAboutKeys: isAboutKeys(sample.reason) };
}

function isAboutKeys(words: string): boolean {
  return /permissions to access/i.test(words);
}

function wordsOf(right: ReturnType<typeof commandPermission>): string {
  return right.kind === 'known' ? right.value.reply : '';
}
