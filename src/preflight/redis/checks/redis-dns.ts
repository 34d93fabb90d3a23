import { fail, pass } from '../../finding.ts';
import { evaluateIpv6Only, evaluatePublicAddress, evaluateSplitHorizon } from '../../network/evaluate-host.ts';
import { redisCheck, redisMethods } from '../check.ts';

export const redisDnsCheck = redisCheck({
  id: 'redis-dns',
  title: 'the host has an address',
  spec: '4.6',
  needs: 'address',
  mayBlock: redisMethods,
  queries: {},
  evaluate(_values, { address }) {
    if (address.kind === 'address') return pass(`${address.host} is an address`);
    if (address.lookup.kind === 'found') return pass(address.lookup.addresses.join(', '));
    return fail(redisMethods, `${address.host}: ${address.lookup.reason}`, {
      required: 'a name with an address',
      detail:
        'Without an address nobody connects; a replica would log `Unable to connect to MASTER: Name or service not known`.',
      fix: { text: 'Correct the spelling of the host, or give its address.' },
    });
  },
});

export const redisHostPublicAddressCheck = redisCheck({
  id: 'host-public-address',
  title: 'the address can be reached from the internet',
  spec: '4.6',
  needs: 'address',
  mayBlock: redisMethods,
  queries: {},
  evaluate: (_values, { address }, wish) => evaluatePublicAddress(address, wish, redisMethods),
});

export const redisHostSplitHorizonCheck = redisCheck({
  id: 'host-split-horizon',
  title: 'the name means the same here and outside',
  needs: 'address',
  mayBlock: [],
  queries: {},
  evaluate: (_values, { address }, wish) => evaluateSplitHorizon(address, wish),
});

export const redisHostIpv6OnlyCheck = redisCheck({
  id: 'host-ipv6-only',
  title: 'the host has an IPv4 address',
  needs: 'address',
  mayBlock: [],
  queries: {},
  evaluate: (_values, { address }, wish) => evaluateIpv6Only(address, wish),
});
