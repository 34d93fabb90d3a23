import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { infoNumber } from '../../../redis/info.ts';
import { fail, pass, skip, unknown, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { configSetFix, redisAdministrator } from '../fixes.ts';
import { maxclientsConfigQuery, type RedisConfigValues } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const maxclientsCheck = redisCheck({
  id: 'maxclients',
  title: 'there is room for the connections of a migration',
  needs: 'address',
  mayBlock: redisMethods,
  queries: { server: optionalQuery(infoQuery), settings: optionalQuery(maxclientsConfigQuery) },
  evaluate({ server, settings }, { connection: entry, probe }) {
    const turnedAway = [entry, probe].find(
      (one) => one?.kind === 'refused' && one.code === connectErrorCodes.maxClients,
    );
    if (turnedAway?.kind === 'refused') {
      return fail(redisMethods, turnedAway.message, {
        required: 'a free connection',
        detail: 'The target is turned away with the same words.',
        fix: {
          by: redisAdministrator,
          text: 'Nobody new is let in to change it. In a session that is still open: CONFIG SET maxclients with a higher number, or end idle clients (CLIENT LIST, CLIENT KILL ID). Otherwise stop an application that holds connections.',
        },
      });
    }
    if (entry.kind === 'refused') return skip(`the server was not entered: ${entry.message}`);
    if (server.kind !== 'known') return unansweredOutcome(server);
    const used = infoNumber(server.value, 'connected_clients');
    const most =
      infoNumber(server.value, 'maxclients') ??
      numbered(resultOr<RedisConfigValues, undefined>(settings, undefined)?.get('maxclients'));
    if (used === undefined) return unknown('the server does not tell its connections');
    if (most === undefined)
      return settings.kind === 'known'
        ? unknown('maxclients is not told')
        : unansweredOutcome(settings, { mayBlock: [] });
    const observed = `${used} of ${most} connections`;
    if (used + needed <= most * 0.9) return pass(observed);
    return warn(observed, {
      required: `${needed} free ones, and some to spare`,
      detail: 'When they are gone the target is told `ERR max number of clients reached`, and so are the applications.',
      fix: configSetFix(
        'maxclients',
        String(Math.max(most * 2, most + 100)),
        String(most),
        server.value,
        'Raise maxclients, within the open files of the process.',
      ),
    });
  },
});

/** The link of the replica, one while it reconnects, and ours. */
const needed = 3;

function numbered(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
