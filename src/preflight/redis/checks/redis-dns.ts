import { fail, pass } from '../../finding.ts';
import { judgeIpv6Only, judgePublicAddress, judgeSplitHorizon } from '../../network/host.ts';
import { check, every } from '../check.ts';

export const redisDns = check({
  id: 'redis-dns',
  title: 'the host has an address',
  spec: '4.6',
  needs: 'address',
  mayBlock: every,
  asks: {},
  judge(_values, { address }) {
    if (address.kind === 'address') return pass(`${address.host} is an address`);
    if (address.lookup.kind === 'found') return pass(address.lookup.addresses.join(', '));
    return fail(every, `${address.host}: ${address.lookup.reason}`, {
      required: 'a name with an address',
      detail:
        'Without an address nobody connects; a replica would log `Unable to connect to MASTER: Name or service not known`.',
      fix: { text: 'Correct the spelling of the host, or give its address.' },
    });
  },
});

export const hostPublicAddress = check({
  id: 'host-public-address',
  title: 'the address can be reached from the internet',
  spec: '4.6',
  needs: 'address',
  mayBlock: every,
  asks: {},
  judge: (_values, { address }, wish) => judgePublicAddress(address, wish, every),
});

export const hostSplitHorizon = check({
  id: 'host-split-horizon',
  title: 'the name means the same here and outside',
  needs: 'address',
  mayBlock: [],
  asks: {},
  judge: (_values, { address }, wish) => judgeSplitHorizon(address, wish),
});

export const hostIpv6Only = check({
  id: 'host-ipv6-only',
  title: 'the host has an IPv4 address',
  needs: 'address',
  mayBlock: [],
  asks: {},
  judge: (_values, { address }, wish) => judgeIpv6Only(address, wish),
});
