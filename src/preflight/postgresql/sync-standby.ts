import { quoteIdentifier } from '../../postgresql/quote.ts';
import { fail, type Outcome, pass } from '../finding.ts';
import { alterSystem } from './alter-system.ts';
import { type Sender, senders } from './asks/senders.ts';
import { type Settings, settingOf, settings } from './asks/settings.ts';
import { serverCheck } from './check.ts';
import { count } from './units.ts';

export const syncStandbyNames = serverCheck({
  id: 'sync-standby-names',
  title: 'synchronous_standby_names does not take in the target',
  needs: 'entry',
  asks: { settings, senders },
  judge({ settings, senders }) {
    const observed = settingOf(settings, 'synchronous_standby_names');
    if (!takesAnyName(observed)) return judgeNamed(observed, settings, senders);
    const named = standbysOf(senders);
    const counted = /^\s*((?:any|first)\s+)?(\d+)\s*\(/i.exec(observed);
    const list = named.map(quoteIdentifier).join(', ');
    const wanted = named.length === 0 ? '' : counted === null ? list : `${counted[1] ?? ''}${counted[2]} (${list})`;
    return fail(['continuous'], observed, {
      required: 'standbys by name',
      detail: `"*" takes in whoever connects, so the subscription of the target becomes a synchronous standby: while the target pauses, every COMMIT on this server hangs.${named.length === 0 ? ' No standby is connected now.' : ''}`,
      objects: named,
      fix: alterSystem(
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
function judgeNamed(observed: string, settings: Settings, senders: readonly Sender[]): Outcome {
  if (observed.trim() === '') return pass('empty');
  const wanted = Number(/^\s*(?:(?:any|first)\s+)?(\d+)\s*\(/i.exec(observed)?.[1] ?? 1);
  const confirming = senders.filter(({ syncState }) => syncState === 'sync' || syncState === 'quorum').length;
  const isHidden = senders.some(({ syncState }) => syncState === undefined);
  const waits = !['off', 'local'].includes(settingOf(settings, 'synchronous_commit'));
  if (isHidden || !waits || confirming >= wanted) return pass(observed);
  return fail(['continuous'], `${observed}; ${count(confirming, 'standby', 'standbys')} of ${wanted} connected`, {
    required: `${count(wanted, 'standby', 'standbys')} connected`,
    detail:
      'Every COMMIT on this server waits for standbys that are not there: the application hangs already, and CREATE PUBLICATION and the first slot would hang with it.',
    fix: alterSystem(
      settings,
      { synchronous_standby_names: '' },
      'Or bring the standbys back. Without a name nothing waits for them.',
    ),
  });
}

/** A star between the names; one in quotes is a name. */
export function takesAnyName(value: string): boolean {
  return /(^|[\s,(])\*($|[\s,)])/.test(value.replace(/"(?:[^"]|"")*"/g, 'x'));
}

function standbysOf(senders: readonly Sender[]): readonly string[] {
  const confirming = senders.filter(({ syncState }) => syncState !== undefined && syncState !== 'async');
  return [...new Set(confirming.map(({ application }) => application).filter((name) => name !== ''))];
}
