import { type Fix, fail, pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { activityQuery } from '../queries/activity.ts';
import { namedSettingOf, type ServerSettings, settingOf, settingsQuery } from '../queries/settings.ts';
import { startTimeQuery } from '../queries/start-time.ts';
import {
  restartNeededError,
  type UnappliedConfigLine,
  unappliedConfigLinesQuery,
} from '../queries/unapplied-config-lines.ts';
import { restartImpact } from '../restart-impact.ts';

/** Settings that a migration depends on. */
const relevantSettings = [
  'wal_level',
  'max_replication_slots',
  'max_wal_senders',
  'listen_addresses',
  'max_worker_processes',
];

export const restartPendingCheck = serverCheck({
  id: 'restart-pending',
  title: 'no changed setting requires a restart',
  headline: 'A changed setting takes effect only after a restart',
  severity: { continuous: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: {
    settings: settingsQuery,
    pending: unappliedConfigLinesQuery,
    started: startTimeQuery,
    activity: activityQuery,
  },
  evaluate({ settings, pending, started, activity }) {
    const pendingChanges = pendingSettings(settings, pending);
    const since = `The server was started at ${started}.`;
    if (pendingChanges.length === 0) return pass('none', { detail: since });
    const broken = pending.filter(({ error }) => error !== restartNeededError);
    const changes = pendingChanges.map(({ name, value }) =>
      value === undefined ? name : `${name} (active: ${namedSettingOf(settings, name)}, configured: ${value})`,
    );
    const blocks =
      pendingChanges.some(({ name }) => name === 'wal_level') && settingOf(settings, 'wal_level') !== 'logical';
    const more = {
      required: 'none',
      detail: [
        `Changed in the configuration, but not active: ${changes.join(', ')}. ${since} ${restartImpact(activity)}`,
        ...broken.map(({ file, line, error }) => `${file}:${line}: ${error}.`),
        ...(blocks ? [] : ['The migration uses the active values.']),
        ...afterwards(pendingChanges, settings),
        'A restart during the migration activates the configured values; with fewer slots than are in use, or a lower wal_level, the server does not start.',
      ].join(' '),
      objects: pendingChanges.map(({ name }) => name),
      fix: fixOf(pendingChanges, settings, broken),
    };
    const observed = pendingChanges.map(({ name }) => name).join(', ');
    return blocks ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

/** How the next restart affects a migration that works now. */
function afterwards(pendingChanges: readonly PendingSetting[], settings: ServerSettings): readonly string[] {
  const worse = pendingChanges.filter((one) => isWorse(one, settings));
  if (worse.length === 0) return [];
  const changes = worse.map(({ name, value }) => `${name} ${value}`).join(', ');
  return [
    `The next restart activates ${changes}, which may not be sufficient: check again after the restart, or remove the change before.`,
  ];
}

/** A restart activates the pending values. It is no fix if they are worse than the active ones, or if the server does not start with them. */
function fixOf(
  pendingChanges: readonly PendingSetting[],
  settings: ServerSettings,
  broken: readonly UnappliedConfigLine[],
): Fix {
  if (broken.length > 0) {
    return {
      by: 'the server administrator',
      text: `Correct or remove the invalid lines before the next restart, because the server does not start with them (ALTER SYSTEM RESET for lines of postgresql.auto.conf), then run SELECT pg_reload_conf().`,
    };
  }
  const worse = pendingChanges.filter((one) => isWorse(one, settings));
  if (worse.length === 0) {
    return {
      restart: true,
      text: 'Restart the server before the migration, or remove the changes from the configuration.',
    };
  }
  const named = worse.map(({ name }) => name).join(', ');
  return {
    reload: true,
    by: 'the server administrator',
    text: `Remove ${named} from the configuration (ALTER SYSTEM RESET ${worse[0]!.name} for a line of postgresql.auto.conf), then run SELECT pg_reload_conf(). A restart would activate values that a migration cannot work with.`,
  };
}

/** Less than the active value. A value in a file that this role cannot read is unknown. */
function isWorse({ name, value }: PendingSetting, settings: ServerSettings): boolean {
  if (value === undefined || !relevantSettings.includes(name)) return false;
  const now = namedSettingOf(settings, name);
  if (name === 'wal_level') return now === 'logical' && value !== 'logical';
  if (name === 'listen_addresses') return now === '*' && value !== '*';
  return Number(value) < Number(now);
}

interface PendingSetting {
  readonly name: string;
  /** undefined: this role cannot read the file. */
  readonly value: string | undefined;
}

/** pg_settings.pending_restart is set by a reload; pg_file_settings also contains lines written since. */
function pendingSettings(settings: ServerSettings, lines: readonly UnappliedConfigLine[]): readonly PendingSetting[] {
  const names = new Set([
    ...[...settings].filter(([, { pendingRestart }]) => pendingRestart).map(([name]) => name),
    ...lines.map(({ name }) => name).filter((name) => name !== ''),
  ]);
  return [...names].map((name) => ({ name, value: lines.findLast((line) => line.name === name)?.value }));
}
