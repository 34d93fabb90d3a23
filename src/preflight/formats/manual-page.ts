/** The page of the PostgreSQL or Redis manual that explains what a check reads; undefined if there is no such page. */
export function databaseManualPageOfCheck(checkId: string): string | undefined {
  const found = Object.entries(pages).find(([, ids]) => ids.includes(checkId));
  return found?.[0];
}

const postgresql = 'https://www.postgresql.org/docs/current';
const redis = 'https://redis.io/docs/latest';

/** Maps a page of the manual to the ids of the checks that the page explains. */
const pages: Readonly<Record<string, readonly string[]>> = {
  [`${postgresql}/runtime-config-wal.html`]: ['wal-level'],
  [`${postgresql}/runtime-config-replication.html`]: [
    'slots-vs-dbs',
    'slots-free',
    'wal-senders',
    'wal-sender-timeout',
    'slot-retention',
    'sync-standby-names',
  ],
  [`${postgresql}/runtime-config-resource.html`]: ['worker-processes', 'decoding-mem', 'temp-file-limit'],
  [`${postgresql}/runtime-config-connection.html`]: ['listen-addresses', 'conn-headroom'],
  [`${postgresql}/auth-pg-hba-conf.html`]: ['hba-rule', 'auth-hba'],
  [`${postgresql}/auth-password.html`]: ['auth-method', 'auth-password'],
  [`${postgresql}/ssl-tcp.html`]: ['tls-negotiate', 'tls-required', 'tls-cert'],
  [`${postgresql}/role-attributes.html`]: ['superuser', 'repl-connection'],
  [`${postgresql}/ddl-priv.html`]: ['grants'],
  [`${postgresql}/logical-replication-publication.html`]: ['replica-identity', 'full-without-eq'],
  [`${postgresql}/logical-replication-restrictions.html`]: [
    'sequences',
    'large-objects',
    'foreign-tables',
    'matviews',
    'ddl-activity',
  ],
  [`${postgresql}/sql-createtable.html`]: ['unlogged', 'temp-tables'],
  [`${postgresql}/sql-prepare-transaction.html`]: ['prepared-xacts'],
  [`${postgresql}/ddl-rowsecurity.html`]: ['rls'],
  [`${postgresql}/routine-vacuuming.html`]: ['xid-wraparound'],
  [`${postgresql}/event-triggers.html`]: ['event-triggers'],
  [`${postgresql}/manage-ag-tablespaces.html`]: ['tablespaces'],
  [`${postgresql}/multibyte.html`]: ['encoding'],
  [`${postgresql}/collation.html`]: ['collation'],
  [`${redis}/operate/oss_and_stack/management/security/`]: ['protected-mode'],
  [`${redis}/operate/oss_and_stack/management/security/acl/`]: ['acl-psync', 'acl-scan'],
  [`${redis}/operate/oss_and_stack/management/security/encryption/`]: ['redis-tls', 'tls-replication'],
  [`${redis}/operate/oss_and_stack/management/replication/`]: [
    'psync-command',
    'repl-backlog',
    'repl-timeout',
    'diskless-delay',
    'min-replicas',
  ],
  [`${redis}/operate/oss_and_stack/management/persistence/`]: ['bgsave-broken', 'fork-memory'],
  [`${redis}/develop/reference/clients/`]: ['replica-output-buffer', 'maxclients'],
  [`${redis}/develop/reference/eviction/`]: ['maxmemory', 'evicting-now'],
  [`${redis}/develop/pubsub/keyspace-notifications/`]: ['keyspace-notifications'],
};

/** Ids of all checks that a page of the manual explains. */
export const idsOfChecksExplainedInDatabaseManual: readonly string[] = Object.values(pages).flat();
