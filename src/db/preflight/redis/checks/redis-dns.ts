import { failOutcome, passOutcome } from '../../finding.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';

export const redisDnsCheck = declareRedisCheck({
  id: 'redis-dns',
  title: 'the host name has an address',
  headline: 'The host name has no address',
  spec: 'S9.10',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {},
  evaluate(_values, { address }) {
    if (address.kind === 'address') return passOutcome(`${address.host} is an address`);
    if (address.lookup.kind === 'found') return passOutcome(address.lookup.addresses.join(', '));
    return failOutcome(redisMethods, `${address.host}: ${address.lookup.reason}`, {
      required: 'a name with an address',
      detail:
        'Without an address no connection is possible; a replica logs `Unable to connect to MASTER: Name or service not known`.',
      fix: { text: 'Correct the host name, or give the address.' },
    });
  },
});
