import { emptyInfo } from '../../../../redis/info.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { markOptional, type QueryResult, valueOr } from '../../query.ts';
import {
  aclGrantFix,
  commandPermission,
  declareRedisCheck,
  isAboutDatabases,
  isDenied,
  outcomeWithoutValue,
  predatesAcl,
  scanCommands,
} from '../check.ts';
import { aclfileQuery, aclRulesQuery, type DryRunResult, dryRunQueries, infoQuery } from '../queries.ts';
import type { RedisSourceFacts } from '../source.ts';

export const aclScanCheck = declareRedisCheck({
  id: 'acl-scan',
  title: 'the user may read every key of every database',
  headline: 'The user may not read every key of every database',
  severity: { scan: 'blocker' },
  queries: {
    select: markOptional(dryRunQueries.select),
    scan: markOptional(dryRunQueries.scan),
    dump: markOptional(dryRunQueries.dump),
    pttl: markOptional(dryRunQueries.pttl),
    type: markOptional(dryRunQueries.type),
    rules: markOptional(aclRulesQuery),
    file: markOptional(aclfileQuery),
    info: markOptional(infoQuery),
  },
  evaluate(values, facts) {
    const { rules, info } = values;
    const commands = scanCommands(info);
    const permissions = commands.map((name) => ({
      name,
      permission: commandPermission(name, values[name], rules),
    }));
    if (permissions.some(({ permission }) => predatesAcl(info, permission))) {
      return passOutcome('Redis before 6.0 has no users: every client may run every command');
    }
    const refused = refusalOfSample(facts);
    const denied = permissions
      .filter(
        ({ name, permission }) =>
          (isDenied(permission) && !isAboutKeys(denialOf(permission)) && !isAboutDatabases(denialOf(permission))) ||
          name === refused.command,
      )
      .map(({ name }) => name);
    const lacksKeys =
      refused.isAboutKeys ||
      permissions.some(({ permission }) => isDenied(permission) && isAboutKeys(denialOf(permission)));
    // Since Valkey 9.1 a user may be limited to some databases.
    const lacksDatabases =
      refused.isAboutDatabases ||
      permissions.some(({ permission }) => isDenied(permission) && isAboutDatabases(denialOf(permission)));
    if (denied.length === 0 && !lacksKeys && !lacksDatabases) {
      const unanswered = permissions.flatMap(({ permission }) => (permission.kind === 'known' ? [] : [permission]))[0];
      return unanswered === undefined
        ? passOutcome(`${facts.user} may run ${commands.join(', ').toUpperCase()}`)
        : outcomeWithoutValue(unanswered);
    }
    const notKnown = permissions.flatMap(({ name, permission }) =>
      permission.kind === 'known' || name === refused.command ? [] : [name],
    );
    const missing = [
      ...denied.map((name) => name.toUpperCase()),
      ...(lacksKeys ? ['some keys'] : []),
      ...(lacksDatabases ? ['some databases'] : []),
    ];
    return failOutcome(['scan'], `${facts.user} may not use: ${missing.join(', ')}`, {
      required: `${commands.map((name) => `+${name}`).join(' ')} ~*${lacksDatabases ? ' alldbs' : ''} for ${facts.user}`,
      detail: 'A scan is refused: `-NOPERM`. Replication does not need the commands of a scan.',
      fix: aclGrantFix({
        user: facts.user,
        names: commands.filter((name) => denied.includes(name) || notKnown.includes(name)),
        allKeys: lacksKeys,
        allDatabases: lacksDatabases,
        keysBefore: valueOr(rules, undefined)?.keys,
        isGuessed: notKnown.length > 0,
        aclFile: valueOr(values.file, undefined)?.get('aclfile') ?? '',
        info: valueOr(info, emptyInfo),
        text: 'Grant the user the commands and all keys, or use another user.',
      }),
    });
  },
});

/** The commands that were denied while keys were sampled, because the ACL rule `+select|0` allows only database 0. */
function refusalOfSample({ sample }: RedisSourceFacts): {
  readonly command?: string | undefined;
  readonly isAboutKeys: boolean;
  readonly isAboutDatabases: boolean;
} {
  if (sample.kind !== 'denied') return { isAboutKeys: false, isAboutDatabases: false };
  const [, command] = /'([a-z]+)' command/i.exec(sample.reason) ?? [];
  return {
    command,
    isAboutKeys: isAboutKeys(sample.reason),
    isAboutDatabases: isAboutDatabases(sample.reason),
  };
}

function isAboutKeys(message: string): boolean {
  return /permissions to access/i.test(message) && !isAboutDatabases(message);
}

function denialOf(permission: QueryResult<DryRunResult>): string {
  return permission.kind === 'known' ? permission.value.reply : '';
}
