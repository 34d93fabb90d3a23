import { type Fix, fail, pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { activityQuery } from '../queries/activity.ts';
import { type PendingConfigLine, pendingConfigLinesQuery } from '../queries/pending-config-lines.ts';
import { namedSettingOf, type ServerSettings, settingOf, settingsQuery } from '../queries/settings.ts';
import { startTimeQuery } from '../queries/start-time.ts';
import { restartImpact } from '../restart-impact.ts';

/** What a restart may take away from, or give to, a migration. */
const decisive = ['wal_level', 'max_replication_slots', 'max_wal_senders', 'listen_addresses', 'max_worker_processes'];

export const restartPendingCheck = serverCheck({
  id: 'restart-pending',
  title: 'no changed setting requires a restart',
  headline: 'A changed setting takes effect only after a restart',
  severity: { continuous: 'blocker' },
  spec: '4.6',
  needs: 'connection',
  queries: {
    settings: settingsQuery,
    pending: pendingConfigLinesQuery,
    started: startTimeQuery,
    activity: activityQuery,
  },
  evaluate({ settings, pending, started, activity }) {
    const waiting = waitingIn(settings, pending);
    const since = `The server runs since ${started}.`;
    if (waiting.length === 0) return pass('none', { detail: since });
    const broken = pending.filter(({ error }) => error !== couldNotApply);
    const told = waiting.map(({ name, value }) =>
      value === undefined ? name : `${name} (${namedSettingOf(settings, name)} in force, ${value} in the file)`,
    );
    const blocks = waiting.some(({ name }) => name === 'wal_level') && settingOf(settings, 'wal_level') !== 'logical';
    const more = {
      required: 'none',
      detail: [
        `Changed in the configuration, but not in force: ${told.join(', ')}. ${since} ${restartImpact(activity)}`,
        ...broken.map(({ file, line, error }) => `${file}:${line}: ${error}.`),
        ...(blocks ? [] : ['Now the migration goes by what is in force.']),
        ...afterwards(waiting, settings),
        'A restart in the middle of a migration would bring them in: with fewer slots than are used, or a lower wal_level, the server refuses to start.',
      ].join(' '),
      objects: waiting.map(({ name }) => name),
      fix: cureOf(waiting, settings, broken),
    };
    const observed = waiting.map(({ name }) => name).join(', ');
    return blocks ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

/** What the next restart does to a migration that works now. */
function afterwards(waiting: readonly Waiting[], settings: ServerSettings): readonly string[] {
  const worse = waiting.filter((one) => isWorse(one, settings));
  if (worse.length === 0) return [];
  const told = worse.map(({ name, value }) => `${name} ${value}`).join(', ');
  return [`After the next restart it goes by ${told}, which may not do: ask again then, or take it out before.`];
}

/** A restart brings in what waits, so it is no cure where that is worse than what is in force, or what no server starts with. */
function cureOf(waiting: readonly Waiting[], settings: ServerSettings, broken: readonly PendingConfigLine[]): Fix {
  if (broken.length > 0) {
    return {
      by: 'who administers the server',
      text: `Mend the lines before anything restarts the server, which would not start with them, or take them out (ALTER SYSTEM RESET for those of postgresql.auto.conf), then SELECT pg_reload_conf().`,
    };
  }
  const worse = waiting.filter((one) => isWorse(one, settings));
  if (worse.length === 0) {
    return {
      restart: true,
      text: 'Restart the server before the migration, or take the lines out of the configuration.',
    };
  }
  const named = worse.map(({ name }) => name).join(', ');
  return {
    reload: true,
    by: 'who administers the server',
    text: `Take ${named} out of the configuration (ALTER SYSTEM RESET ${worse[0]!.name} for a line of postgresql.auto.conf), then SELECT pg_reload_conf(). A restart would bring in what a migration cannot do with.`,
  };
}

/** Less than what is in force; of a value in a file that cannot be read nothing is known. */
function isWorse({ name, value }: Waiting, settings: ServerSettings): boolean {
  if (value === undefined || !decisive.includes(name)) return false;
  const now = namedSettingOf(settings, name);
  if (name === 'wal_level') return now === 'logical' && value !== 'logical';
  if (name === 'listen_addresses') return now === '*' && value !== '*';
  return Number(value) < Number(now);
}

const couldNotApply = 'setting could not be applied';

interface Waiting {
  readonly name: string;
  /** undefined: the file cannot be read by this role. */
  readonly value: string | undefined;
}

/** The server knows of a change once it was told to look; a file edited since shows in its own view. */
function waitingIn(settings: ServerSettings, lines: readonly PendingConfigLine[]): readonly Waiting[] {
  const names = new Set([
    ...[...settings].filter(([, { pendingRestart }]) => pendingRestart).map(([name]) => name),
    ...lines.map(({ name }) => name).filter((name) => name !== ''),
  ]);
  return [...names].map((name) => ({ name, value: lines.findLast((line) => line.name === name)?.value }));
}
