import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { type CheckOutcome, failOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { type WalSender, walSendersQuery } from '../queries/replication.ts';
import { getSetting, type ServerSettings, settingsQuery } from '../queries/settings.ts';
import { column, rowsQuery } from '../query.ts';
import { alterSystemFix } from '../settings.ts';

/** The values of synchronous_commit that ALTER ROLE and ALTER DATABASE store, for any role and database, as they were written. */
const synchronousCommitQuery = rowsQuery({
  id: 'stored-commit-modes',
  scope: 'server',
  sql: () => `
    SELECT DISTINCT substr(g.setting, 20) AS mode
    FROM pg_db_role_setting s
    CROSS JOIN LATERAL unnest(s.setconfig) g(setting)
    WHERE left(g.setting, 19) = 'synchronous_commit='
  `,
  row: column.text('mode'),
});

export const syncStandbyNamesCheck = declareServerCheck({
  id: 'sync-standby-names',
  title: 'no COMMIT waits for the target or for a standby that is not connected',
  headline: 'COMMIT waits, or will wait, for a standby that does not confirm',
  severity: { continuous: 'blocker' },
  queries: { settings: settingsQuery, senders: walSendersQuery, commitModes: synchronousCommitQuery },
  evaluate({ settings, senders, commitModes }) {
    const observed = getSetting(settings, 'synchronous_standby_names');
    if (observed.trim() === '') return passOutcome('empty');
    if (!commitsWait(settings, commitModes)) {
      const mode = getSetting(settings, 'synchronous_commit');
      return passOutcome(`${observed}; synchronous_commit ${mode}`, {
        detail: 'No COMMIT waits for a standby, unless a session sets synchronous_commit itself.',
      });
    }
    if (!hasWildcard(observed)) return evaluateNames(observed, settings, senders);
    const named = standbysOf(senders);
    const counted = /^\s*((?:any|first)\s+)?(\d+)\s*\(/i.exec(observed);
    const list = named.map(quoteIdentifier).join(', ');
    const wanted = named.length === 0 ? '' : counted === null ? list : `${counted[1] ?? ''}${counted[2]} (${list})`;
    return failOutcome(['continuous'], observed, {
      headline: 'synchronous_standby_names matches the target',
      required: 'a list of standby names',
      detail: `"*" matches every standby, so the subscription of the target becomes a synchronous standby: while the target is stalled, every COMMIT on this server waits.${named.length === 0 ? ' No standby is connected to the server now.' : ''}`,
      objects: named,
      fix: alterSystemFix(
        settings,
        { synchronous_standby_names: wanted },
        named.length === 0
          ? 'No standby is connected, so the fix sets an empty list: add the names of the standbys that must confirm a COMMIT.'
          : 'Add the names of standbys that are not connected now.',
      ),
    });
  },
});

/** If too few of the listed standbys are connected, every COMMIT waits, including those of the migration. */
function evaluateNames(observed: string, settings: ServerSettings, senders: readonly WalSender[]): CheckOutcome {
  const wanted = Number(/^\s*(?:(?:any|first)\s+)?(\d+)\s*\(/i.exec(observed)?.[1] ?? 1);
  const confirming = senders.filter(({ syncState }) => syncState === 'sync' || syncState === 'quorum').length;
  const isHidden = senders.some(({ syncState }) => syncState === undefined);
  if (isHidden || confirming >= wanted) return passOutcome(observed);
  return failOutcome(['continuous'], `${observed}; ${countOf(confirming, 'standby')} of ${wanted} connected`, {
    headline: 'COMMIT waits for a standby that is not connected',
    required: `${countOf(wanted, 'standby')} connected`,
    detail:
      'Every COMMIT on this server waits for standbys that are not connected: the application already waits, and so would CREATE PUBLICATION and the creation of the first slot.',
    fix: alterSystemFix(
      settings,
      { synchronous_standby_names: '' },
      'As an alternative, reconnect the standbys. With an empty synchronous_standby_names no COMMIT waits.',
    ),
  });
}

/**
 * Whether any session waits for standbys at COMMIT, according to the settings of the server, the roles and the
 * databases.
 */
function commitsWait(settings: ServerSettings, stored: readonly string[]): boolean {
  const own = settings.get('synchronous_commit');
  // A value that ALTER ROLE or ALTER DATABASE sets for the session of this program hides the value of the server.
  const isServerValue = own !== undefined && !/user|database/.test(own.source);
  return [isServerValue ? own.value : 'on', ...stored].some((mode) => !localModes.has(mode.toLowerCase()));
}

const localModes: ReadonlySet<string> = new Set(['off', 'local', 'false', 'no', '0']);

/** Whether the list of standby names contains `*`; a quoted `"*"` is a name. */
function hasWildcard(value: string): boolean {
  return /(^|[\s,(])\*($|[\s,)])/.test(value.replace(/"(?:[^"]|"")*"/g, 'x'));
}

function standbysOf(senders: readonly WalSender[]): readonly string[] {
  const confirming = senders.filter(({ syncState }) => syncState !== undefined && syncState !== 'async');
  return [...new Set(confirming.map(({ application }) => application).filter((name) => name !== ''))];
}
