import {
  isEndedStatus,
  isFailedStatus,
  listFailures,
  type MigratedDatabase,
  type Migration,
  type MigrationFailure,
} from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { isJsonRecord, readStringField, readStringList } from '../../base/json.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { quoteLiteral } from '../../postgresql/quote.ts';
import { failureHeadline } from './failures.ts';
import { describeBroken, listBrokenDatabases, readServiceWord } from './identity.ts';
import { candidateCauses } from './postgresql/cause.ts';
import { type CauseFix, quoteReported, type StatusSample, type StopCause, type Violation } from './sample.ts';

/** What the service reports about the migration that is watched. */
export type ServiceStatus =
  | { readonly kind: 'known'; readonly migration: Migration }
  | { readonly kind: 'none' }
  /** The request for the status failed; `reason` is a clause without a secret. */
  | { readonly kind: 'unavailable'; readonly reason: string };

interface ServiceStatusPoller {
  /**
   * The last known status at the service. Requests the status again when the last request is older than 10 s, and does not
   * wait for the response. If the last request failed with an error that is not a CliError, throws this error.
   */
  latest(): ServiceStatus | undefined;
  /** Resolves when no request is pending; at once if none is. */
  settled(): Promise<void>;
}

const pollIntervalMs = 10_000;

/**
 * @param fetchStatus reads the status; its result is undefined if the service has no migration
 * @param now milliseconds since the epoch
 */
export function createServicePoller(
  fetchStatus: () => Promise<Migration | undefined>,
  now: () => number,
): ServiceStatusPoller {
  let known: ServiceStatus | undefined;
  let lastRequestAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const request = async (): Promise<ServiceStatus> => {
    try {
      const migration = await fetchStatus();
      return migration === undefined ? { kind: 'none' } : { kind: 'known', migration };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { kind: 'unavailable', reason: sanitizeLine(error.message, 200) };
    }
  };
  return {
    latest() {
      if (failure !== undefined) throw failure.error;
      if (pending === undefined && now() - lastRequestAt >= pollIntervalMs) {
        lastRequestAt = now();
        pending = request()
          .then(
            (status) => {
              known = status;
            },
            (error: unknown) => {
              failure = { error };
            },
          )
          .finally(() => {
            pending = undefined;
          });
      }
      return known;
    },
    async settled() {
      await pending;
    },
  };
}

/** The databases that failed, by the service; one that failed never catches up, even if others do. */
export function listFailedDatabases(
  status: ServiceStatus | undefined,
  ignoreDbs: readonly string[],
): readonly MigrationFailure[] {
  if (status?.kind !== 'known') return [];
  return listFailures(status.migration, ignoreDbs).filter(({ database }) => database !== undefined);
}

/** Whether the service reports that the migration failed. */
export function hasFailedAtService(status: ServiceStatus | undefined): boolean {
  return status?.kind === 'known' && isFailedStatus(status.migration.status);
}

/**
 * Adds the status at the service to a sample: a failure or end that the service reports overrides the state of the
 * source.
 * @param command shows the migration, as the service reports it
 */
export function addServiceStatus(
  sample: StatusSample,
  status: ServiceStatus | undefined,
  command: string,
  id?: string,
): StatusSample {
  if (status === undefined) return sample;
  if (status.kind === 'unavailable')
    return {
      ...sample,
      notes: [...(sample.notes ?? []), `the status could not be read from the service: ${status.reason}`],
    };
  const violation = violationOf(status, command, id);
  const server = status.kind === 'known' ? status.migration.status : undefined;
  const broken =
    status.kind === 'known' && violation === undefined
      ? listBrokenDatabases(status.migration).filter(({ failure }) => failure === undefined)
      : [];
  const narrowed =
    status.kind === 'known' ? narrowStopCauseByServiceMessages(sample, messagesOf(status.migration), broken) : sample;
  const told =
    broken.length > 0 || status.kind !== 'known'
      ? broken.flatMap((one) => brokenViolation(narrowed, one, hintOf(command)))
      : targetViolation(narrowed, messagesOf(status.migration), hintOf(command));
  return {
    ...narrowed,
    ...(server === undefined ? {} : { server_status: server }),
    violations: [...(violation === undefined ? [] : [violation]), ...told, ...narrowed.violations],
  };
}

function violationOf(
  status: Exclude<ServiceStatus, { readonly kind: 'unavailable' }>,
  command: string,
  id: string | undefined,
): Violation | undefined {
  const hint = hintOf(command);
  if (status.kind === 'none')
    return { rule: 'server-status', observed: 'the service shows no migration into the cluster', hint };
  const { migration } = status;
  const { denied } = readServiceWord(id, migration);
  if (denied !== undefined) return { rule: 'server-status', observed: denied, hint };
  if (!isEndedStatus(migration.status)) {
    const failures = listFailures(migration);
    if (failures.length === 0) return undefined;
    return { rule: 'server-status', observed: `the service reports: ${failureHeadline(failures)}`, hint };
  }
  const reasons = reasonsOf(migration);
  const because = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  return { rule: 'server-status', observed: `the service reports the status ${migration.status}${because}`, hint };
}

function hintOf(command: string): string {
  return `run \`${command}\` for the state of each database`;
}

/** Rules of a Redis source that cannot tell what is wrong with the target. */
const rulesAboutTarget: ReadonlySet<string> = new Set(['full-sync-loop', 'replica-gone', 'replica-timeout']);

/** What the service says of its target, without a phase that shows when. */
function targetViolation(
  { violations }: StatusSample,
  messages: readonly ServiceMigrationMessage[],
  hint: string,
): readonly Violation[] {
  const [message] = messages;
  if (message === undefined || !violations.some(({ rule }) => rulesAboutTarget.has(rule))) return [];
  const observed = `the service reports of its target: ${sanitizeLine(message.text, 300)}`;
  const known = classifyMessage(message.text);
  return [{ rule: known?.rule ?? 'target-reported', observed, hint: messageHints[known?.rule ?? ''] ?? hint }];
}

/** What the service says now comes before what the source supposes, and before the source can suppose anything. */
function brokenViolation({ cause }: StatusSample, database: MigratedDatabase, hint: string): readonly Violation[] {
  const { name, reason = '' } = database;
  const known = classifyMessage(reason);
  if (cause?.basis === 'observed' && (cause.database ?? name) === name) return [];
  return [
    {
      rule: known?.rule ?? 'service-reported',
      observed: describeBroken(database),
      hint: messageHints[known?.rule ?? ''] ?? hint,
    },
  ];
}

/** Everything that the service tells about the state of each database. */
function messagesOf({ raw }: Migration): readonly ServiceMigrationMessage[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  // The reason of the whole migration repeats the reasons of its databases, so it is left out if there are databases.
  const parts = databases.length === 0 ? [raw] : databases.slice(0, 1000);
  return parts.flatMap((one) => {
    const texts = [readStringField(one, 'error'), readStringField(one, 'reason'), ...readStringList(one.warnings)];
    const database = one === raw ? undefined : readStringField(one, 'name');
    return texts.flatMap((text) => (text === undefined ? [] : [{ database, text: text.slice(0, 2000) }]));
  });
}

/** Reasons that the service tells about the migration and about three of its databases at most. */
function reasonsOf({ raw }: Migration): readonly string[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  const parts = [raw, ...databases].flatMap((one) => {
    const reason = readStringField(one, 'reason') ?? readStringField(one, 'error');
    const name = one === raw ? undefined : readStringField(one, 'name');
    return reason === undefined ? [] : [name === undefined ? reason : `${name}: ${reason}`];
  });
  return [...new Set(parts)].slice(0, 4).map((text) => sanitizeLine(text, 300));
}

/** A message about one database; `database` undefined: about the whole migration. */
interface ServiceMigrationMessage {
  readonly database: string | undefined;
  readonly text: string;
}

/**
 * Returns the sample with one cause in place of a group of possible causes, if a message of the target names this
 * cause. A message of the target also replaces a cause that is only a change of the source. A message that does not fit
 * the way in which replication stopped is old, and is ignored.
 */
function narrowStopCauseByServiceMessages(
  sample: StatusSample,
  messages: readonly ServiceMigrationMessage[],
  broken: readonly MigratedDatabase[],
): StatusSample {
  const { cause } = sample;
  if (cause === undefined || cause.basis === 'observed') return sample;
  // The reason of a database in which nothing arrives now is not old.
  const isPresent = (text: string): boolean =>
    cause.basis === 'group' &&
    broken.some(({ name, reason }) => name === cause.database && reason === sanitizeLine(text, 300));
  const fitting = messages.filter(
    ({ database }) => (database ?? cause.database) === cause.database || cause.database === undefined,
  );
  for (const { text, database } of fitting) {
    const report = classifyMessage(text);
    if (report === undefined || !(candidatesOf(cause).includes(report.rule) || isPresent(text))) continue;
    const narrowed = isSameObject(cause, report) ? confirmedCause(cause) : reportedCause(cause, report, text, database);
    return { ...sample, cause: narrowed, violations: sample.violations.map((one) => (one === cause ? narrowed : one)) };
  }
  return sample;
}

function candidatesOf({ basis, rule, candidates = [] }: StopCause): readonly string[] {
  if (basis === 'group') return candidates;
  const isSchema = /^(table|column|schema|replica)-/.test(rule);
  return candidateCauses[isSchema ? 'apply-failing' : 'target-disconnected'] ?? [];
}

/** Whether the message of the target concerns the table or column of the cause that the source shows. */
function isSameObject({ basis, object }: StopCause, { object: reported }: TargetStopMessageClassification): boolean {
  if (basis === 'group' || reported === undefined) return false;
  return object === reported || object.startsWith(`${reported}.`) || reported.startsWith(`${object}.`);
}

function confirmedCause(cause: StopCause): StopCause {
  return { ...cause, basis: 'observed' };
}

function reportedCause(
  { object, fix, database, observed }: StopCause,
  report: TargetStopMessageClassification,
  text: string,
  reportedDatabase: string | undefined,
): StopCause {
  const place = database ?? reportedDatabase;
  return {
    rule: report.rule,
    ...(place === undefined ? {} : { database: place }),
    object: report.object === undefined ? object : sanitizeLine(report.object, 200),
    observed: `${observed}; the target reports: ${sanitizeLine(text, 300)}`,
    hint: messageHints[report.rule] ?? 'see the log of the target',
    fix: report.fix ?? fix,
    basis: 'observed',
  };
}

/** What a message of the target, in its log or in the status of the service, says about the cause of a stop. */
interface TargetStopMessageClassification {
  /** Id of the cause of the stop. */
  readonly rule: string;
  readonly object?: string;
  readonly fix?: CauseFix;
}

/**
 * Finds the cause of a stop in an English message of a PostgreSQL target, version 12 to 18; undefined if the message names
 * no cause.
 */
export function classifyMessage(text: string): TargetStopMessageClassification | undefined {
  for (const [pattern, classify] of patterns) {
    const match = pattern.exec(text);
    if (match !== null) return withoutUndefined(classify(match, text));
  }
  return undefined;
}

/** What to do about a cause that only the target shows. */
export const messageHints: Readonly<Record<string, string>> = {
  'target-disk-full': 'enlarge the disk of the target, or remove data there',
  'target-read-only': 'make the target writable: it must not be a standby',
  'target-lock-timeout': 'remove the timeout of the role, and end the session that holds the lock',
  'target-lock': 'end the session on the target that holds the lock',
  'subscription-disabled': 'enable the subscription',
  'target-conflict': 'remove the row that was written on the target; do not write to migrated tables',
  'target-schema': 'make the table of the target like that of the source',
  'slot-dropped': 'stop the migration, empty the target, and start it again',
  'publication-dropped': 'stop the migration, empty the target, and start it again',
  'login-refused': 'restore the password and the role: the target logs in with the same credentials',
  'pg-hba-changed': 'restore the host rule, and run SELECT pg_catalog.pg_reload_conf()',
  'target-stopped': 'start the target, or check its status at the service',
};

type Classified = {
  readonly rule: string;
  readonly object?: string | undefined;
  readonly fix?: CauseFix | undefined;
};

/** The first pattern that matches decides. */
const patterns: readonly (readonly [RegExp, (match: RegExpExecArray, text: string) => Classified])[] = [
  [
    /no space left on device/i,
    () => ({
      rule: 'target-disk-full',
      object: 'the disk of the target',
      fix: onTarget(
        'SELECT datname, pg_catalog.pg_size_pretty(pg_catalog.pg_database_size(oid)) FROM pg_catalog.pg_database ORDER BY pg_catalog.pg_database_size(oid) DESC;',
      ),
    }),
  ],
  [
    /in a read-only transaction|in recovery, as a standby|during recovery/i,
    () => ({ rule: 'target-read-only', object: 'the target', fix: onTarget('SELECT pg_catalog.pg_promote();') }),
  ],
  [
    /due to (lock|statement) timeout|role "[^"]+" has (?:lock|statement)_timeout=/,
    (_match, text) => {
      const [, role, setting] = /role "([^"]+)" has (\w+_timeout)=/.exec(text) ?? [];
      const fix = role === undefined ? undefined : `ALTER ROLE ${quoteReported(role)} RESET ${setting};`;
      return { rule: 'target-lock-timeout', object: role ?? relationIn(text), fix: onTarget(fix) };
    },
  ],
  [
    /waits for a lock on (.+?), held by process (\d+)/,
    ([, object, pid]) => ({
      rule: 'target-lock',
      object,
      fix: onTarget(`SELECT pg_catalog.pg_terminate_backend(${pid});`),
    }),
  ],
  [
    /subscription "?([^" ]+)"? (?:is|has been) disabled/,
    ([, name = 'x']) => ({
      rule: 'subscription-disabled',
      object: name,
      fix: onTarget(`ALTER SUBSCRIPTION ${quoteReported(name)} ENABLE;`),
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
  return `DELETE FROM ${quoteReported(schema)}.${quoteReported(table)} WHERE ${quoteReported(column)} OPERATOR(pg_catalog.=) ${quoteLiteral(value)};`;
}

function onTarget(statement: string | undefined): CauseFix | undefined {
  return statement === undefined ? undefined : { run_on: 'target', statement };
}

function withoutUndefined({ rule, object, fix }: Classified): TargetStopMessageClassification {
  return { rule, ...(object === undefined ? {} : { object }), ...(fix === undefined ? {} : { fix }) };
}
