import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { infoNumber, type RedisInfo } from '../../../../redis/info.ts';
import { failOutcome, passOutcome, skipOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { configSetFix, declareRedisCheck, outcomeWithoutValue, redisAdministrator, redisMethods } from '../check.ts';
import { infoQuery, maxclientsQuery } from '../queries.ts';

export const maxclientsCheck = declareRedisCheck({
  id: 'maxclients',
  title: 'enough connections are free for a migration',
  headline: 'Too few connections are free for a migration',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    info: markOptional(infoQuery),
    settings: markOptional(maxclientsQuery),
  },
  evaluate({ info, settings }, { connection, probe }) {
    const refused = [connection, probe].find(
      (result) => result?.kind === 'refused' && result.code === clientErrorCodes.maxClients,
    );
    if (refused?.kind === 'refused') {
      return failOutcome(redisMethods, refused.message, {
        required: 'a free connection',
        detail: 'The server refuses the target with the same error.',
        fix: {
          by: redisAdministrator,
          text: 'In a session that is still open, raise maxclients with CONFIG SET or end idle clients (CLIENT LIST, CLIENT KILL ID). If no session is open, stop an application that holds connections.',
        },
      });
    }
    if (connection.kind === 'refused') return skipOutcome(`no session with the server: ${connection.message}`);
    if (info.kind !== 'known') return outcomeWithoutValue(info);
    const used = usedConnections(info.value);
    const setting = valueOr(settings, undefined)?.get('maxclients');
    const limit = infoNumber(info.value, 'maxclients') ?? (setting === undefined ? undefined : Number(setting));
    if (used === undefined) return unknownOutcome('the server does not report connected_clients');
    if (limit === undefined) {
      return settings.kind === 'known'
        ? unknownOutcome('the server does not report maxclients')
        : outcomeWithoutValue(settings, { mayBlock: [] });
    }
    const observed = `${used} of ${limit} connections`;
    if (used + neededConnections <= limit * 0.9) return passOutcome(observed);
    const details = {
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
    };
    // The connection of the preflight is one of those that are used, and ends.
    const free = limit - (used - 1);
    if (free >= neededConnections) return warnOutcome(observed, details);
    return failOutcome(free < 2 ? redisMethods : ['continuous'], observed, details);
  },
});

/** connected_clients leaves out replicas and the links of a cluster, which count too. */
function usedConnections(info: RedisInfo): number | undefined {
  const clients = infoNumber(info, 'connected_clients');
  if (clients === undefined) return undefined;
  return clients + (infoNumber(info, 'connected_slaves') ?? 0) + (infoNumber(info, 'cluster_connections') ?? 0);
}

/**
 * Connections that a migration needs: the link of the replica, a second one while it reconnects, and the connection of
 * this program.
 */
const neededConnections = 3;
