import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery } from '../queries/roles.ts';
import { capacityQuery, settingsQuery } from '../queries/settings.ts';
import { alterSystemFix, slotDemand } from '../settings.ts';
import { sourceVersionNumber } from '../source-facts.ts';

export const connHeadroomCheck = declareServerCheck({
  id: 'conn-headroom',
  title: 'enough connections are free',
  headline: 'Too few connections are free',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { capacity: capacityQuery, settings: settingsQuery, role: migrationRoleQuery },
  evaluate({ capacity, settings, role }, facts) {
    const { max, used } = capacity;
    const kept = role.superuser ? 0 : capacity.reserved;
    const free = max - kept - used;
    const databases = facts.databases.length;
    // Before PostgreSQL 12, WAL senders counted towards max_connections.
    const needed = sourceVersionNumber(facts) < 120_000 ? slotDemand(databases).full + 4 : 4;
    const observed = `${countOf(free, 'connection')} free of ${max} (${used} used${kept === 0 ? '' : `, ${kept} reserved`})`;
    if (free >= needed) return passOutcome(observed, { required: String(needed) });
    return warnOutcome(observed, {
      headline: `${countOf(free, 'connection')} free, ${needed} needed: raise max_connections`,
      required: String(needed),
      detail: `The server would reject further connections: "${role.superuser ? 'sorry, too many clients already' : 'remaining connection slots are reserved'}".`,
      fix: alterSystemFix(
        settings,
        { max_connections: String(max + needed - free) },
        'As an alternative, close idle connections.',
      ),
    });
  },
});
