import { quoteIdentifier } from '../../postgresql/quote.ts';
import { fail, pass } from '../finding.ts';
import { alterSystem } from './alter-system.ts';
import { type Sender, senders } from './asks/senders.ts';
import { settingOf, settings } from './asks/settings.ts';
import { serverCheck } from './check.ts';

export const syncStandbyNames = serverCheck({
  id: 'sync-standby-names',
  title: 'synchronous_standby_names does not take in the target',
  needs: 'entry',
  asks: { settings, senders },
  judge({ settings, senders }) {
    const observed = settingOf(settings, 'synchronous_standby_names');
    if (!takesAnyName(observed)) return pass(observed === '' ? 'empty' : observed);
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

/** A star between the names; one in quotes is a name. */
export function takesAnyName(value: string): boolean {
  return /(^|[\s,(])\*($|[\s,)])/.test(value.replace(/"(?:[^"]|"")*"/g, 'x'));
}

function standbysOf(senders: readonly Sender[]): readonly string[] {
  const confirming = senders.filter(({ syncState }) => syncState !== undefined && syncState !== 'async');
  return [...new Set(confirming.map(({ application }) => application).filter((name) => name !== ''))];
}
