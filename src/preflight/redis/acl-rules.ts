/** The ACL categories of the commands that a migration sends, as Redis 6 defines them. */
const categories: Readonly<Record<string, readonly string[]>> = {
  psync: ['admin', 'slow', 'dangerous'],
  sync: ['admin', 'slow', 'dangerous'],
  replconf: ['admin', 'slow', 'dangerous'],
  info: ['slow', 'dangerous'],
  select: ['keyspace', 'fast'],
  scan: ['keyspace', 'read', 'slow'],
  dump: ['keyspace', 'read', 'slow'],
  pttl: ['keyspace', 'read', 'fast'],
  type: ['keyspace', 'read', 'fast'],
};

/**
 * Whether the rules in the reply to ACL GETUSER, applied in order, allow a command
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/).
 */
export function isRedisCommandAllowed(rules: readonly string[], command: string): boolean {
  const ownCategories = new Set(['all', ...(categories[command] ?? [])]);
  return rules.reduce((isAllowed, rule) => {
    const [, sign, category, name] = /^([+-])(?:@(\S+)|(\S+))$/.exec(rule.toLowerCase()) ?? [];
    if (sign === undefined) {
      if (rule === 'allcommands') return true;
      return rule === 'nocommands' ? false : isAllowed;
    }
    const isConcerned = category === undefined ? name === command : ownCategories.has(category);
    return isConcerned ? sign === '+' : isAllowed;
  }, false);
}

/**
 * Whether the key patterns in the reply to ACL GETUSER match every key; a reply without patterns counts as every key.
 */
export function canRedisUserReadEveryKey(patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || patterns.some((pattern) => /^(~|%R~|%RW~)\*$/.test(pattern));
}
