import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, fail, pass } from '../../finding.ts';
import { alterSystemFix } from '../alter-system.ts';
import { serverCheck } from '../check.ts';
import { type ServerSettings, settingOf, settingsQuery } from '../queries/settings.ts';
import { type WalSender, walSendersQuery } from '../queries/wal-senders.ts';
import { countText } from '../units.ts';

export const syncStandbyNamesCheck = serverCheck({
  id: 'sync-standby-names',
  title: 'no COMMIT waits for the target or for a standby that is not connected',
  headline: 'COMMIT waits, or will wait, for a standby that does not confirm',
  severity: { continuous: 'blocker' },
  needs: 'connection',
  queries: { settings: settingsQuery, senders: walSendersQuery },
  evaluate({ settings, senders }) {
    const observed = settingOf(settings, 'synchronous_standby_names');
    if (!matchesAnyStandby(observed)) return judgeNamed(observed, settings, senders);
    const named = standbysOf(senders);
    const counted = /^\s*((?:any|first)\s+)?(\d+)\s*\(/i.exec(observed);
    const list = named.map(quoteIdentifier).join(', ');
    const wanted = named.length === 0 ? '' : counted === null ? list : `${counted[1] ?? ''}${counted[2]} (${list})`;
    return fail(['continuous'], observed, {
      required: 'standbys by name',
      detail: `"*" takes in whoever connects, so the subscription of the target becomes a synchronous standby: while the target pauses, every COMMIT on this server hangs.${named.length === 0 ? ' No standby is connected now.' : ''}`,
      objects: named,
      fix: alterSystemFix(
        settings,
        { synchronous_standby_names: wanted },
        named.length === 0
          ? 'No standby is connected, so none is named: name those that must confirm.'
          : 'Add the standbys that are not connected now.',
      ),
    });
  },
});

/** With too few of the named standbys connected no COMMIT ends, those of the migration included. */
function judgeNamed(observed: string, settings: ServerSettings, senders: readonly WalSender[]): CheckOutcome {
  if (observed.trim() === '') return pass('empty');
  const wanted = Number(/^\s*(?:(?:any|first)\s+)?(\d+)\s*\(/i.exec(observed)?.[1] ?? 1);
  const confirming = senders.filter(({ syncState }) => syncState === 'sync' || syncState === 'quorum').length;
  const isHidden = senders.some(({ syncState }) => syncState === undefined);
  const waits = !['off', 'local'].includes(settingOf(settings, 'synchronous_commit'));
  if (isHidden || !waits || confirming >= wanted) return pass(observed);
  return fail(['continuous'], `${observed}; ${countText(confirming, 'standby', 'standbys')} of ${wanted} connected`, {
    required: `${countText(wanted, 'standby', 'standbys')} connected`,
    detail:
      'Every COMMIT on this server waits for standbys that are not there: the application hangs already, and CREATE PUBLICATION and the first slot would hang with it.',
    fix: alterSystemFix(
      settings,
      { synchronous_standby_names: '' },
      'Or bring the standbys back. Without a name nothing waits for them.',
    ),
  });
}

/** A star between the names; one in quotes is a name. */
export function matchesAnyStandby(value: string): boolean {
  return /(^|[\s,(])\*($|[\s,)])/.test(value.replace(/"(?:[^"]|"")*"/g, 'x'));
}

function standbysOf(senders: readonly WalSender[]): readonly string[] {
  const confirming = senders.filter(({ syncState }) => syncState !== undefined && syncState !== 'async');
  return [...new Set(confirming.map(({ application }) => application).filter((name) => name !== ''))];
}
