import { tlsReplicationCheck } from '../../../../../src/db/preflight/redis/checks/tls-replication.ts';
import { certificate, checkCases } from '../check-cases.ts';
import { healthy } from '../recordings.ts';

checkCases(tlsReplicationCheck, {
  'no TLS there': { status: 'pass' },
  'TLS unused': { server: healthy({ config: { 'tls-port': '6380' } }), status: 'warn' },
  'TLS used': { facts: { ssl: true, tls: certificate(90) }, status: 'info' },
});
