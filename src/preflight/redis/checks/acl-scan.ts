import { emptyInfo, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { fail, pass } from '../../finding.ts';
import { optionalQuery, type QueryResult, queryValueOr } from '../../query.ts';
import { redisCheck } from '../check.ts';
import { commandPermission, isBeforeAcl, isCommandDenied } from '../command-permission.ts';
import { aclGrantFix } from '../fixes.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import {
  type AclDryRunResult,
  aclUserRulesQuery,
  dumpDryRunQuery,
  pttlDryRunQuery,
  scanDryRunQuery,
  selectDryRunQuery,
  typeDryRunQuery,
} from '../queries/acl.ts';
import { aclfileConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const aclScanCheck = redisCheck({
  id: 'acl-scan',
  title: 'the user may read every key of every database',
  headline: 'The user may not read every key of every database',
  needs: 'connection',
  severity: { scan: 'blocker' },
  queries: {
    select: optionalQuery(selectDryRunQuery),
    scan: optionalQuery(scanDryRunQuery),
    dump: optionalQuery(dumpDryRunQuery),
    pttl: optionalQuery(pttlDryRunQuery),
    type: optionalQuery(typeDryRunQuery),
    rules: optionalQuery(aclUserRulesQuery),
    file: optionalQuery(aclfileConfigQuery),
    info: optionalQuery(infoQuery),
  },
  evaluate(values, facts) {
    const { rules, info } = values;
    const commands = scanCommands(info);
    const permissions = commands.map((name) => ({
      name,
      permission: commandPermission(name, values[name], rules),
    }));
    if (permissions.some(({ permission }) => isBeforeAcl(info, permission))) {
      return pass('Redis before 6.0 has no users: every client may run every command');
    }
    const refused = refusalOfSample(facts);
    const denied = permissions
      .filter(
        ({ name, permission }) =>
          (isCommandDenied(permission) && !isAboutKeys(denialOf(permission))) || name === refused.command,
      )
      .map(({ name }) => name);
    const lacksKeys =
      refused.isAboutKeys ||
      permissions.some(({ permission }) => isCommandDenied(permission) && isAboutKeys(denialOf(permission)));
    if (denied.length === 0 && !lacksKeys) {
      const unanswered = permissions.flatMap(({ permission }) => (permission.kind === 'known' ? [] : [permission]))[0];
      return unanswered === undefined
        ? pass(`${facts.user} may run ${commands.join(', ').toUpperCase()}`)
        : outcomeWithoutResult(unanswered);
    }
    const notKnown = permissions.flatMap(({ name, permission }) =>
      permission.kind === 'known' || name === refused.command ? [] : [name],
    );
    const missing = [...denied.map((name) => name.toUpperCase()), ...(lacksKeys ? ['some keys'] : [])];
    return fail(['scan'], `${facts.user} may not use: ${missing.join(', ')}`, {
      required: `${commands.map((name) => `+${name}`).join(' ')} ~* for ${facts.user}`,
      detail: 'A scan is refused: `-NOPERM`. Replication does not need the commands of a scan.',
      fix: aclGrantFix({
        user: facts.user,
        names: commands.filter((name) => denied.includes(name) || notKnown.includes(name)),
        allKeys: lacksKeys,
        keysBefore: queryValueOr(rules, undefined)?.keys,
        isGuessed: notKnown.length > 0,
        aclFile: queryValueOr(values.file, undefined)?.get('aclfile') ?? '',
        info: queryValueOr(info, emptyInfo),
        text: 'Grant the user the commands and all keys, or use another user.',
      }),
    });
  },
});

type ScanCommand = 'select' | 'scan' | 'dump' | 'pttl' | 'type';

/** The command SELECT is needed for keys outside database 0, and if it is not known which databases have keys. */
function scanCommands(info: QueryResult<RedisInfo>): readonly ScanCommand[] {
  const isDefaultOnly = info.kind === 'known' && parseKeyspace(info.value).every(({ index }) => index === 0);
  return [...(isDefaultOnly ? [] : (['select'] as const)), 'scan', 'dump', 'pttl', 'type'];
}

/** The commands that were denied while keys were sampled, because the ACL rule `+select|0` allows only database 0. */
function refusalOfSample({ sample }: RedisSourceFacts): {
  readonly command?: string | undefined;
  readonly isAboutKeys: boolean;
} {
  if (sample.kind !== 'denied') return { isAboutKeys: false };
  const [, command] = /'([a-z]+)' command/i.exec(sample.reason) ?? [];
  return { command, isAboutKeys: isAboutKeys(sample.reason) };
}

function isAboutKeys(message: string): boolean {
  return /permissions to access/i.test(message);
}

function denialOf(permission: QueryResult<AclDryRunResult>): string {
  return permission.kind === 'known' ? permission.value.reply : '';
}
