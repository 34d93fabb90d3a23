import { pass, info as tell } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { commandCallsQuery } from '../queries/info.ts';

export const waitUsersCheck = redisCheck({
  id: 'wait-users',
  title: 'nobody waits for replicas',
  needs: 'entry',
  mayBlock: [],
  queries: { calls: commandCallsQuery },
  evaluate({ calls }) {
    const waits = (calls.get('wait') ?? 0) + (calls.get('waitaof') ?? 0);
    if (waits === 0) return pass('no WAIT since the start');
    return tell(`${waits} calls of WAIT since the start`, {
      detail: 'The target counts as a replica, so a WAIT may be satisfied by it alone, far away and slow.',
    });
  },
});
