import { expect, test } from 'vitest';
import { postgresqlHostIpv6OnlyCheck } from '../../../../src/db/preflight/postgresql/checks/host-ipv6-only.ts';
import { hostParseConflictCheck } from '../../../../src/db/preflight/postgresql/checks/host-parse.ts';
import { postgresqlHostPublicAddressCheck } from '../../../../src/db/preflight/postgresql/checks/host-public-address.ts';
import { postgresqlHostSplitHorizonCheck } from '../../../../src/db/preflight/postgresql/checks/host-split-horizon.ts';
import { portDefaultPoolerCheck } from '../../../../src/db/preflight/postgresql/checks/port-default.ts';
import { selfTargetCheck } from '../../../../src/db/preflight/postgresql/checks/self-target.ts';
import { tcpConnectCheck } from '../../../../src/db/preflight/postgresql/checks/tcp-connect.ts';
import { healthyFacts, outcomeOf } from './login-facts.ts';

test('every check of the address passes for a healthy host', () => {
  const checks = [
    hostParseConflictCheck,
    postgresqlHostPublicAddressCheck,
    postgresqlHostSplitHorizonCheck,
    postgresqlHostIpv6OnlyCheck,
    tcpConnectCheck,
    portDefaultPoolerCheck,
    selfTargetCheck,
  ];
  expect(checks.map((check) => [check.id, outcomeOf(check, healthyFacts).status])).toEqual(
    checks.map(({ id }) => [id, id === 'self-target' ? 'skip' : 'pass']),
  );
});
