import { type CheckOutcome, fail, info, pass, skip } from '../finding.ts';
import { evaluateConnect } from '../network/evaluate-connect.ts';
import {
  evaluateHostParse,
  evaluateIpv6Only,
  evaluatePublicAddress,
  evaluateSplitHorizon,
} from '../network/evaluate-host.ts';
import { serverCheck } from './check.ts';
import { bothMethods, evaluateLoginStep, explainRefusal, failLogin } from './login-steps.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

export const hostParseCheck = serverCheck({
  id: 'host-parse',
  title: 'the host says what the other options say',
  spec: '2',
  needs: 'address',
  queries: {},
  evaluate: (_values, ground) => evaluateHostParse(ground.address, bothMethods),
});

export const postgresqlHostPublicAddressCheck = serverCheck({
  id: 'host-public-address',
  title: 'the host has a public address',
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate: (_values, ground, wish) => evaluatePublicAddress(ground.address, wish, bothMethods),
});

export const postgresqlHostSplitHorizonCheck = serverCheck({
  id: 'host-split-horizon',
  title: 'the host means the same here and in public DNS',
  needs: 'address',
  queries: {},
  evaluate: (_values, ground, wish) => evaluateSplitHorizon(ground.address, wish),
});

export const postgresqlHostIpv6OnlyCheck = serverCheck({
  id: 'host-ipv6-only',
  title: 'the host has an IPv4 address',
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate: (_values, ground, wish) => evaluateIpv6Only(ground.address, wish),
});

export const tcpConnectCheck = serverCheck({
  id: 'tcp-connect',
  title: 'the server takes connections',
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, ground) {
    const network = evaluateConnect(ground.address, bothMethods);
    if (network.status === 'fail' || network.status === 'skip') return network;
    return evaluateLoginStep(
      ground,
      'tcp-connect',
      () => (ground.lost === undefined ? network : unanswered(ground.lost)),
      (why) => failLogin(why, { required: 'a session', ...explainRefusal(why.code) }),
    );
  },
});

/** Nobody knows what the server would have said, and what is not known to be possible must not be called so. */
function unanswered(lost: string): CheckOutcome {
  return fail(bothMethods, `the connection ended while the server was asked: ${lost}`, {
    required: 'an answer',
    detail: 'Of its settings, its slots and the role nothing or little is known, so nobody can promise a migration.',
    fix: {
      text: 'Look into the log of the server and into what stands between (a proxy, a firewall that cuts or holds long answers), and run this again, with more time if that was short (--deadline 5m).',
    },
  });
}

export const portDefaultCheck = serverCheck({
  id: 'port-default',
  title: 'the port is that of a server, not of a pooler',
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, { address: { port } }): CheckOutcome {
    const usual = usualPorts[port];
    return usual === undefined
      ? pass(String(port))
      : info(`${port}: ${usual}`, { fix: { text: 'If so, give the port of the server itself.' } });
  },
});

export const selfTargetCheck = serverCheck({
  id: 'self-target',
  title: 'source and target are different servers',
  needs: 'address',
  queries: {},
  evaluate(_values, { address }: PostgresqlSourceFacts, { target }): CheckOutcome {
    if (target === undefined) return skip('the address of the target is not known');
    const mine = [address.host, ...address.connects.map((each) => each.address)].map(plain);
    const same = target.port === address.port && mine.includes(plain(target.host));
    if (!same) return pass(`the target is ${target.host}, port ${target.port}`);
    return fail(bothMethods, `both are ${address.host}, port ${address.port}`, {
      required: 'two servers',
      detail:
        'Migrating to the same server is not supported: CREATE SUBSCRIPTION waits for its own transaction for ever.',
      fix: { text: 'Name another target.' },
    });
  },
});

const usualPorts: Readonly<Record<number, string>> = {
  25060: 'the port of managed clusters',
  25061: 'the port of managed clusters (spec §4.6), and of their pools',
  6432: 'the port of PgBouncer',
  6543: 'the port of a pooler in transaction mode',
};

function plain(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
