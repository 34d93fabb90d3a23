import type { Actor } from '../../api/actor.ts';
import { describeFailures, type Migration, type MigrationFailure, readWarnings } from '../../api/online-migration.ts';
import { sanitizeLine } from '../../base/sanitize.ts';

/** Commands of this source and cluster that can be pasted; they contain no password. */
export interface FailureCommands {
  readonly preflight: string;
  readonly stop: string;
  readonly migrate: string;
}

/** @param from the options that name the source, quoted for a shell */
export function failureCommands(
  { command }: Pick<Actor, 'command'>,
  cluster: string,
  from: readonly string[],
): FailureCommands {
  return {
    preflight: command('db preflight', ...from),
    stop: command('db stop', cluster),
    migrate: command('db migrate', cluster, ...from),
  };
}

/**
 * What helps with each error that the service reports for a database or for the whole migration: a clause in the imperative.
 * The first pattern that matches decides. `preflight` stands for the command that checks the source.
 */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /target is not empty|contains \d+ keys/,
    'empty the target: if nothing needs its keys, `redis-cli -h TARGET_HOST -p PORT FLUSHALL` deletes them',
  ],
  [
    /target database is not empty/,
    'empty the target: if nothing needs its rows, drop each migrated database there, while you are connected to another one (`DROP DATABASE "NAME";`)',
  ],
  [
    /newer than the target|no logical replication: PostgreSQL/,
    'use a cluster whose version is not older than the source; `cloudctl db list` shows the versions',
  ],
  [/managed cluster/, 'copy a managed cluster with pg_dump or redis-cli: the service cannot migrate it'],
  [/same server/, 'correct `--source`: it is the address of the target'],
  [/all databases of the source are ignored/, 'remove a database from `--ignore-dbs`'],
  [
    /cannot copy the schema|could not read the schema/,
    'drop these objects on the source, or leave the database out with `--ignore-dbs`; find them before the start with PREFLIGHT',
  ],
  [
    /role that receives the copy cannot log in/,
    'allow user names that begin with cloudctl_ in pg_hba.conf of the target',
  ],
  [
    /no free logical replication worker/,
    'raise max_logical_replication_workers on the target and restart it, or migrate fewer databases at once with `--ignore-dbs`',
  ],
  [
    /no free background worker/,
    'raise max_worker_processes on the target and restart it, or migrate fewer databases at once with `--ignore-dbs`',
  ],
  [
    /too few replication origins/,
    'raise max_active_replication_origins (before PostgreSQL 18 max_replication_slots) on the target and restart it',
  ],
  [
    /all replication slots are in use|free_?slot|max_replication_slots/,
    'raise max_replication_slots on the source and restart it, or drop a slot that no consumer uses',
  ],
  [/setting: databases/, 'raise the setting `databases` of the target, or move the keys to a database that it has'],
  [
    /(?:replication slot|subscription|publication) .*does not exist/,
    'find out who dropped it: while a migration runs, nothing else may change its replication objects',
  ],
  [
    /replication slot \S+ |can no longer get changes/,
    'raise max_slot_wal_keep_size on the source, so that it keeps the changes until they have arrived',
  ],
  [/could not reach the target/, 'check the target cluster in the control panel'],
  [
    /password|WRONGPASS|NOAUTH|NOPERM|role "[^"]*" (?:does not exist|is not permitted)|permission denied/,
    'correct the user, its password or its privileges: PREFLIGHT names what is missing',
  ],
  [
    /pg_hba\.conf|no encryption|TLS|SSL|certificate/i,
    'let the service in on the source: PREFLIGHT names the rule or the TLS option',
  ],
  [
    /could not reach the source|ECONN|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|host name is unknown|connection (?:failed|was closed|timed out|terminated)|timed? ?out|closed the connection/i,
    'open the source to the public internet for the service (firewall, listen_addresses, address): PREFLIGHT checks it from here',
  ],
  [
    /not a replica of the source any more/,
    'find out who changed it: while a migration runs, nothing else may change its replication objects',
  ],
  [
    /replication link of the target is down/,
    'see the log of the target; PREFLIGHT finds what a replica of this source lacks',
  ],
  [/BUSY|server is busy/, 'wait until the script on the server has ended, or end it with SCRIPT KILL'],
  [/no space left|disk/i, 'enlarge the disk of the target'],
  [/violates|duplicate key/, 'remove what was written on the target: only the migration may write there'],
  [/^interrupted$/, 'wait until the service runs again'],
];

/**
 * What to do about a migration of which something failed: what helps with the first error, and the commands that lead to a new
 * start. A target that has received rows must be emptied first.
 */
export function helpWithFailures(
  failures: readonly MigrationFailure[],
  isActive: boolean,
  { preflight, stop, migrate }: FailureCommands,
): string {
  const reason = failures[0]?.reason ?? '';
  const found = remedies.find(([pattern]) => pattern.test(reason))?.[1];
  const check = `\`${preflight}\``;
  const remedy = found?.replace('PREFLIGHT', () => check) ?? `check the source with ${check}`;
  const parts = [...(isActive ? [`stop the migration with \`${stop}\``] : []), remedy];
  const isEmptying = remedy.startsWith('empty the target');
  const empty = isEmptying ? '' : 'empty the target, if rows or keys have arrived there, and ';
  return `${parts.join('; ')}; then ${empty}start again with \`${migrate}\``;
}

/** Such as `2 databases have failed: shop: …; crm: …`. */
export function failureHeadline(failures: readonly MigrationFailure[]): string {
  const [first] = failures;
  const what =
    first?.database === undefined
      ? 'the migration has failed'
      : failures.length === 1
        ? `database ${first.database} has failed`
        : `${failures.length} databases have failed`;
  const reasons = failures.length === 1 && first !== undefined ? first.reason : describeFailures(failures);
  return `${what}: ${reasons}`;
}

/** A warning in one line; `key` is the same when it concerns another database too. */
export interface WarningLine {
  readonly key: string;
  readonly text: string;
}

/** What the copy leaves out, and the cut-over restores. */
const restored = /^(owners|privileges) (?:\(GRANT\) )?are not copied\b/;

/** The warnings of the service now: equal ones of several databases in one line, and one for what the cut-over restores. */
export function warningLines(migration: Pick<Migration, 'raw'>): readonly WarningLine[] {
  const groups = new Map<string, Set<string>>();
  const missing = { kinds: new Set<string>(), databases: new Set<string>() };
  for (const { database, text } of readWarnings(migration)) {
    const kind = restored.exec(text)?.[1];
    if (kind === undefined) groups.set(text, (groups.get(text) ?? new Set()).add(database ?? ''));
    else {
      missing.kinds.add(kind);
      if (database !== undefined) missing.databases.add(database);
    }
  }
  const lines = [...groups].flatMap(([text, databases]) => {
    const named = [...databases].filter((name) => name !== '');
    return [
      ...(databases.has('') ? [{ key: text, text }] : []),
      ...(named.length === 0 ? [] : [{ key: `database: ${text}`, text: `${listNames(named)}: ${text}` }]),
    ];
  });
  if (missing.kinds.size === 0) return lines;
  const place = missing.databases.size === 0 ? '' : ` (${listNames([...missing.databases])})`;
  const text = `${[...missing.kinds].sort().join(' and ')} are not copied${place}: the cut-over restores them`;
  return [...lines, { key: 'restored', text }];
}

/** At most five names. */
function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => sanitizeLine(name, 80));
  return `${shown.join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
}
