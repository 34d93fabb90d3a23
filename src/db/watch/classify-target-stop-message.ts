import { quoteLiteral } from '../../postgresql/quote.ts';
import { quoteServerReportedName } from './quote-server-reported-name.ts';
import type { ReplicationStopCauseFix } from './status-sample.ts';

/** What a message of the target, in its log or in the status of the service, says about the cause of a stop. */
export interface TargetStopMessageClassification {
  /** Id of the cause of the stop. */
  readonly rule: string;
  readonly object?: string;
  readonly fix?: ReplicationStopCauseFix;
}

/**
 * Finds the cause of a stop in an English message of a PostgreSQL target, version 12 to 18; undefined if the message names
 * no cause.
 */
export function classifyTargetStopMessage(text: string): TargetStopMessageClassification | undefined {
  for (const [pattern, classify] of patterns) {
    const match = pattern.exec(text);
    if (match !== null) return withoutUndefined(classify(match, text));
  }
  return undefined;
}

/** What to do about a cause that only the target shows. */
export const targetStopCauseHints: Readonly<Record<string, string>> = {
  'target-disk-full': 'enlarge the disk of the target, or remove data there',
  'target-read-only': 'make the target writable: it must not be a standby',
  'target-lock-timeout': 'remove the timeout of the role, and end the session that holds the lock',
  'target-lock': 'end the session on the target that holds the lock',
  'subscription-disabled': 'enable the subscription',
  'target-conflict': 'remove the row that was written on the target; do not write to migrated tables',
  'target-schema': 'make the table of the target like that of the source',
  'slot-dropped': 'start the migration again, which copies all rows again',
  'publication-dropped': 'stop the migration and start it again',
  'login-refused': 'restore the password and the role: the target logs in with the same credentials',
  'pg-hba-changed': 'restore the host rule, and run SELECT pg_reload_conf()',
  'target-stopped': 'start the target, or check its status at the service',
};

type Classified = {
  readonly rule: string;
  readonly object?: string | undefined;
  readonly fix?: ReplicationStopCauseFix | undefined;
};

/** The first pattern that matches decides. */
const patterns: readonly (readonly [RegExp, (match: RegExpExecArray, text: string) => Classified])[] = [
  [
    /no space left on device/i,
    () => ({
      rule: 'target-disk-full',
      object: 'the disk of the target',
      fix: onTarget(
        'SELECT datname, pg_size_pretty(pg_database_size(oid)) FROM pg_database ORDER BY pg_database_size(oid) DESC;',
      ),
    }),
  ],
  [
    /in a read-only transaction|in recovery, as a standby|during recovery/i,
    () => ({ rule: 'target-read-only', object: 'the target', fix: onTarget('SELECT pg_promote();') }),
  ],
  [
    /due to (lock|statement) timeout|role "[^"]+" has (?:lock|statement)_timeout=/,
    (_match, text) => {
      const [, role, setting] = /role "([^"]+)" has (\w+_timeout)=/.exec(text) ?? [];
      const fix = role === undefined ? undefined : `ALTER ROLE ${quoteServerReportedName(role)} RESET ${setting};`;
      return { rule: 'target-lock-timeout', object: role ?? relationIn(text), fix: onTarget(fix) };
    },
  ],
  [
    /waits for a lock on (.+?), held by process (\d+)/,
    ([, object, pid]) => ({
      rule: 'target-lock',
      object,
      fix: onTarget(`SELECT pg_terminate_backend(${pid});`),
    }),
  ],
  [
    /subscription "?([^" ]+)"? (?:is|has been) disabled/,
    ([, name = 'x']) => ({
      rule: 'subscription-disabled',
      object: name,
      fix: onTarget(`ALTER SUBSCRIPTION ${quoteServerReportedName(name)} ENABLE;`),
    }),
  ],
  [
    /violates (?:unique|exclusion|check|foreign key|not-null) constraint|conflict detected on relation "([^"]+)"/,
    ([, conflicting], text) => {
      const relation = relationIn(text) ?? conflicting;
      return { rule: 'target-conflict', object: relation, fix: onTarget(deleteKey(relation, text)) };
    },
  ],
  [/target relation "([^"]+)" does not exist/, ([, object]) => ({ rule: 'target-schema', object })],
  [
    /target relation "([^"]+)" is missing (?:some )?replicated columns?: "([^"]+)"/,
    ([, table, column]) => ({ rule: 'target-schema', object: `${table}.${column}` }),
  ],
  [
    /invalid input syntax for|out of range for type|value too long for type|incorrect binary data format|insufficient data left in message/,
    (_match, text) => {
      const column = /column "([^"]+)"/.exec(text)?.[1];
      const relation = relationIn(text);
      return {
        rule: 'target-schema',
        object: relation === undefined || column === undefined ? relation : `${relation}.${column}`,
      };
    },
  ],
  [
    /replica identity column expected|has neither (?:a )?REPLICA IDENTITY/i,
    (_match, text) => ({ rule: 'target-schema', object: relationIn(text) }),
  ],
  [/replication slot "?([^" ]+)"? (?:does not exist|is lost)/, ([, object]) => ({ rule: 'slot-dropped', object })],
  [/publication "?([^" ]+)"? does not exist/, ([, object]) => ({ rule: 'publication-dropped', object })],
  [/no pg_hba\.conf entry/, () => ({ rule: 'pg-hba-changed', object: 'pg_hba.conf' })],
  [
    /password authentication failed for user "([^"]+)"|role "([^"]+)" (?:does not exist|is not permitted to log in)/,
    ([, user, role]) => ({ rule: 'login-refused', object: user ?? role }),
  ],
  [/could not reach the target/, () => ({ rule: 'target-stopped', object: 'the target' })],
];

function relationIn(text: string): string | undefined {
  // PostgreSQL does not double the quotes inside names in its messages.
  return /target relation "([^"]+)"(?=[ ,.;:]|$)/.exec(text)?.[1];
}

/**
 * Builds the DELETE for a message such as `Key (id)=(1) already exists`, only if the key has one column: PostgreSQL does not
 * quote the values in the message, so several values cannot be separated.
 */
function deleteKey(relation: string | undefined, text: string): string | undefined {
  const [, column, value] = /Key \(([^(),"]+)\)=\(([^()]*)\)/.exec(text) ?? [];
  const [schema, table, ...rest] = relation?.split('.') ?? [];
  if (!column || value === undefined || !schema || !table || rest.length > 0) return undefined;
  return `DELETE FROM ${quoteServerReportedName(schema)}.${quoteServerReportedName(table)} WHERE ${quoteServerReportedName(column)} = ${quoteLiteral(value)};`;
}

function onTarget(statement: string | undefined): ReplicationStopCauseFix | undefined {
  return statement === undefined ? undefined : { run_on: 'target', statement };
}

function withoutUndefined({ rule, object, fix }: Classified): TargetStopMessageClassification {
  return { rule, ...(object === undefined ? {} : { object }), ...(fix === undefined ? {} : { fix }) };
}
