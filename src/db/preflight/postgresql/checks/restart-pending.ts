import { quoteLiteral } from '../../../../postgresql/quote.ts';
import { type FindingFix, failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { sessionsQuery } from '../queries/activity.ts';
import {
  getSetting,
  namedSetting,
  restartError,
  type ServerSettings,
  settingsQuery,
  type UnappliedLine,
  unappliedLinesQuery,
} from '../queries/settings.ts';
import { column, rowQuery } from '../query.ts';
import { describeRestart, slotDemand } from '../settings.ts';

/** Start time of the server, as the server formats it. */
const startTimeQuery = rowQuery({
  id: 'start-time',
  scope: 'server',
  sql: () => 'SELECT pg_postmaster_start_time()::timestamp(0)::text AS started',
  row: column.text('started'),
});

/** The settings that a migration depends on. */
const relevantSettings = [
  'wal_level',
  'max_replication_slots',
  'max_wal_senders',
  'listen_addresses',
  'max_worker_processes',
];

export const restartPendingCheck = declareServerCheck({
  id: 'restart-pending',
  title: 'no changed setting requires a restart',
  headline: 'A changed setting takes effect only after a restart',
  severity: { continuous: 'blocker' },
  spec: 'S9.13',
  queries: {
    settings: settingsQuery,
    pending: unappliedLinesQuery,
    started: startTimeQuery,
    activity: sessionsQuery,
  },
  evaluate({ settings, pending, started, activity }, facts) {
    const pendingChanges = pendingSettings(settings, pending);
    const since = `The server was started at ${started}.`;
    if (pendingChanges.length === 0) return passOutcome('none', { detail: since });
    // A setting that was removed from the files has a message without a file, and no line that could be corrected.
    const broken = pending.filter(({ error, file }) => error !== restartError && file !== '');
    const changes = pendingChanges.map(({ name, value }) =>
      value === undefined ? name : `${name} (active: ${namedSetting(settings, name)}, configured: ${value})`,
    );
    const blocks =
      pendingChanges.some(({ name }) => name === 'wal_level') && getSetting(settings, 'wal_level') !== 'logical';
    const more = {
      required: 'none',
      detail: [
        `Settings that were changed in the configuration and are not active yet: ${changes.join(', ')}. ${since} ${describeRestart(activity)}`,
        ...broken.map(({ file, line, error }) => `${file}:${line}: ${error}.`),
        ...(blocks ? [] : ['Until a restart the migration uses the active values of the settings.']),
        ...afterwards(pendingChanges, settings),
        'A restart during the migration activates the configured values; with fewer slots than are in use, or a lower wal_level, the server does not start.',
      ].join(' '),
      objects: pendingChanges.map(({ name }) => name),
      fix: fixOf(pendingChanges, settings, broken),
    };
    const observed = pendingChanges.map(({ name }) => name).join(', ');
    const fatal = blocks ? undefined : fatalChange(pendingChanges, settings, facts.databases.length);
    if (fatal !== undefined)
      return warnOutcome(observed, {
        ...more,
        headline: `DO NOT RESTART THE SOURCE during the migration: ${fatal.name} would be ${fatal.value ?? 'a lower value'}, with which the server does not start`,
        detail: `${more.detail} ${fatal.error}`,
      });
    return blocks ? failOutcome(['continuous'], observed, more) : warnOutcome(observed, more);
  },
});

/**
 * The pending value with which the server does not start while the replication slots of a migration exist. The present value
 * passes its own check.
 */
function fatalChange(
  pendingChanges: readonly PendingSetting[],
  settings: ServerSettings,
  databases: number,
): (PendingSetting & { readonly error: string }) | undefined {
  const worse = pendingChanges.filter((one) => isWorse(one, settings));
  const level = worse.find(({ name }) => name === 'wal_level');
  if (level !== undefined)
    return { ...level, error: 'The server reports: "logical replication slot … exists, but wal_level < logical".' };
  const slots = worse.find(
    ({ name, value }) => name === 'max_replication_slots' && Number(value) < slotDemand(databases).needed,
  );
  return slots === undefined
    ? undefined
    : { ...slots, error: 'The server reports: "too many replication slots active before shutdown".' };
}

/** How the next restart would affect a migration that is possible now. */
function afterwards(pendingChanges: readonly PendingSetting[], settings: ServerSettings): readonly string[] {
  const worse = pendingChanges.filter((one) => isWorse(one, settings));
  if (worse.length === 0) return [];
  const changes = worse.map(({ name, value }) => `${name} ${value ?? '(a lower value)'}`).join(', ');
  return [
    `The next restart activates ${changes}, which may not be sufficient: run the preflight again after the restart, or remove the change from the configuration before.`,
  ];
}

/**
 * The fix is a restart, which activates the pending values. A restart is not the fix if the pending values are worse
 * than the active ones, or if the server does not start with the pending values.
 */
function fixOf(
  pendingChanges: readonly PendingSetting[],
  settings: ServerSettings,
  broken: readonly UnappliedLine[],
): FindingFix {
  if (broken.length > 0) {
    return {
      by: 'the server administrator',
      text: `Correct or remove the invalid lines of the configuration files before the next restart, because the server does not start with them (ALTER SYSTEM RESET for lines of postgresql.auto.conf), then run SELECT pg_catalog.pg_reload_conf().`,
    };
  }
  const worse = pendingChanges.filter((one) => isWorse(one, settings));
  if (worse.length === 0) {
    return {
      restart: true,
      text: 'Restart the server before the migration, or remove the changes from the configuration.',
    };
  }
  const [reset] = worse.filter(({ value }) => value === undefined);
  if (reset !== undefined) {
    const now = quoteLiteral(namedSetting(settings, reset.name) ?? '');
    return {
      sql: [`ALTER SYSTEM SET ${reset.name} = ${now}`],
      undo: [`ALTER SYSTEM RESET ${reset.name}`],
      notSimulated: 'the configured value is not known',
      reload: true,
      text: `Keep the active value: ALTER SYSTEM SET ${reset.name} = ${now}, then run SELECT pg_catalog.pg_reload_conf(). A restart would activate a value that a migration cannot work with.`,
    };
  }
  const named = worse.map(({ name }) => name).join(', ');
  return {
    reload: true,
    by: 'the server administrator',
    text: `Remove ${named} from the configuration (ALTER SYSTEM RESET ${worse[0]!.name} for a line of postgresql.auto.conf), then run SELECT pg_catalog.pg_reload_conf(). A restart would activate values that a migration cannot work with.`,
  };
}

/**
 * Whether the pending value is less than the active value. The pending value is unknown if it is the default, or in a
 * configuration file that this role cannot read; every other value of wal_level is less than logical.
 */
function isWorse({ name, value }: PendingSetting, settings: ServerSettings): boolean {
  const now = namedSetting(settings, name);
  if (name === 'wal_level') return now === 'logical' && value !== 'logical';
  if (value === undefined || !relevantSettings.includes(name)) return false;
  if (name === 'listen_addresses') return now === '*' && value !== '*';
  return Number(value) < Number(now);
}

interface PendingSetting {
  readonly name: string;
  /** The pending value; undefined if no configuration file sets it, or if this role cannot read the file. */
  readonly value: string | undefined;
}

/**
 * A reload sets pg_settings.pending_restart; pg_file_settings also contains lines that were written after the reload.
 */
function pendingSettings(settings: ServerSettings, lines: readonly UnappliedLine[]): readonly PendingSetting[] {
  const names = new Set([
    ...[...settings].filter(([, { pendingRestart }]) => pendingRestart).map(([name]) => name),
    ...lines.map(({ name }) => name).filter((name) => name !== ''),
  ]);
  return [...names].map((name) => ({ name, value: lines.findLast((line) => line.name === name)?.value }));
}
