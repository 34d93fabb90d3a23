import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareRedisCheck } from '../check.ts';
import { commandCallsQuery } from '../queries.ts';

export const waitUsersCheck = declareRedisCheck({
  id: 'wait-users',
  title: 'no application uses WAIT',
  headline: 'Applications use WAIT',
  severity: { continuous: 'info' },
  queries: { calls: commandCallsQuery },
  evaluate({ calls }) {
    const waits = (calls.get('wait') ?? 0) + (calls.get('waitaof') ?? 0);
    if (waits === 0) return passOutcome('no WAIT since the start');
    return infoOutcome(`${waits} calls of WAIT since the start`, {
      detail: 'The target counts as a replica, so its acknowledgement alone can satisfy a WAIT, with a higher latency.',
    });
  },
});
