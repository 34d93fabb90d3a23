/** What the commands in question belong to, in the table of Redis 6. */
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

/** Whether the rules of ACL GETUSER, applied in their order, allow a command (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/). */
export function isCommandAllowed(rules: readonly string[], command: string): boolean {
  const belongsTo = new Set(['all', ...(categories[command] ?? [])]);
  return rules.reduce((granted, rule) => {
    const [, sign, category, name] = /^([+-])(?:@(\S+)|(\S+))$/.exec(rule.toLowerCase()) ?? [];
    if (sign === undefined) {
      if (rule === 'allcommands') return true;
      return rule === 'nocommands' ? false : granted;
    }
    const concerns = category === undefined ? name === command : belongsTo.has(category);
    return concerns ? sign === '+' : granted;
  }, false);
}

/** Whether the patterns of ACL GETUSER let a user read keys of any name. Patterns that were not told forbid nothing. */
export function canReadEveryKey(patterns: readonly string[] | undefined): boolean {
  return patterns === undefined || patterns.some((pattern) => /^(~|%R~|%RW~)\*$/.test(pattern));
}
