import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { infoNumber } from '../../../redis/info.ts';
import { fail, pass, skip, unknown, warn } from '../../finding.ts';
import { optionalQuery, queryValueOr } from '../../query.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { configSetFix, redisAdministrator } from '../fixes.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { maxclientsConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';

export const maxclientsCheck = redisCheck({
  id: 'maxclients',
  title: 'enough connections are free for a migration',
  headline: 'Too few connections are free for a migration',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: optionalQuery(infoQuery), settings: optionalQuery(maxclientsConfigQuery) },
  evaluate({ info, settings }, { connection, probe }) {
    const refused = [connection, probe].find(
      (result) => result?.kind === 'refused' && result.code === connectErrorCodes.maxClients,
    );
    if (refused?.kind === 'refused') {
      return fail(redisMethods, refused.message, {
        required: 'a free connection',
        detail: 'The target is refused with the same error.',
        fix: {
          by: redisAdministrator,
          text: 'In a session that is still open, raise maxclients with CONFIG SET or end idle clients (CLIENT LIST, CLIENT KILL ID). Without one, stop an application that holds connections.',
        },
      });
    }
    if (connection.kind === 'refused') return skip(`no session with the server: ${connection.message}`);
    if (info.kind !== 'known') return outcomeWithoutResult(info);
    const used = infoNumber(info.value, 'connected_clients');
    const setting = queryValueOr(settings, undefined)?.get('maxclients');
    const limit = infoNumber(info.value, 'maxclients') ?? (setting === undefined ? undefined : Number(setting));
    if (used === undefined) return unknown('the server does not report connected_clients');
    if (limit === undefined) {
      return settings.kind === 'known'
        ? unknown('the server does not report maxclients')
        : outcomeWithoutResult(settings, { mayBlock: [] });
    }
    const observed = `${used} of ${limit} connections`;
    if (used + neededConnections <= limit * 0.9) return pass(observed);
    return warn(observed, {
      required: `${neededConnections} free connections and a reserve of 10 %`,
      detail:
        'When none is free, the target and the applications are refused with `ERR max number of clients reached`.',
      fix: configSetFix(
        'maxclients',
        String(Math.max(limit * 2, limit + 100)),
        String(limit),
        info.value,
        'Raise maxclients; the limit of open files of the process must allow it.',
      ),
    });
  },
});

/**
 * Connections that a migration needs: the link of the replica, a second one while it reconnects, and the connection of
 * this program.
 */
const neededConnections = 3;
