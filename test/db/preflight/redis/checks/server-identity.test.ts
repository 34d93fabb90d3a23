import { redisServerIdentityCheck } from '../../../../../src/db/preflight/redis/checks/server-identity.ts';
import { literal } from '../../network/sample.ts';
import { certificate, checkCases } from '../check-cases.ts';

const address = literal('198.51.100.7');

checkCases(redisServerIdentityCheck, {
  'a certificate that was not verified': { facts: { address, ssl: true, tls: certificate(90) }, status: 'warn' },
  'a verified one': { facts: { address, ssl: true, tls: { ...certificate(90), verified: true } }, status: 'pass' },
  'no TLS': { facts: { address, ssl: false }, status: 'warn' },
  'this machine': { facts: { address: literal('127.0.0.1'), ssl: false }, status: 'pass' },
});
