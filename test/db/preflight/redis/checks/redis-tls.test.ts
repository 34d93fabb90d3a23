import { redisTlsCheck } from '../../../../../src/db/preflight/redis/checks/redis-tls.ts';
import { both, certificate, checkCases, cut } from '../check-cases.ts';

checkCases(redisTlsCheck, {
  'a certificate': { facts: { ssl: true, tls: certificate(90) }, status: 'pass' },
  'one of a private authority': {
    facts: { ssl: true, tls: { ...certificate(90), isPubliclyTrusted: false } },
    status: 'unknown',
  },
  'one of a public authority': {
    facts: { ssl: true, tls: { ...certificate(90), isPubliclyTrusted: true } },
    status: 'pass',
  },
  'one that ends soon': { facts: { ssl: true, tls: certificate(5) }, status: 'warn' },
  'one that has ended': { facts: { ssl: true, tls: certificate(-3) }, status: 'fail', blocks: ['continuous'] },
  'none shown': { facts: { ssl: true, tls: { offered: 'yes', version: 'TLSv1.3' } }, status: 'info' },
  'no TLS there': {
    facts: { ssl: true, ...cut('tls', 'NO_TLS', 'the server does not speak TLS') },
    status: 'fail',
    blocks: both,
  },
  'a failed handshake': {
    facts: { ssl: true, ...cut('tls', 'TLS', 'self-signed certificate') },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'a client certificate': {
    facts: { ssl: true, ...cut('tls', 'TLS', 'client certificate (tls-auth-clients)') },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'silence in the handshake': {
    facts: { ssl: true, ...cut('tls', 'TLS', 'no answer to the TLS handshake') },
    status: 'fail',
    blocks: ['continuous', 'scan'],
  },
  'TLS only': { facts: cut('startup', 'ONLY_TLS', 'the server speaks TLS'), status: 'fail', blocks: both },
  'plain, over the internet': { options: { isOverInternet: true }, status: 'warn' },
  'plain, nearby': { status: 'pass' },
  'no connection': { facts: cut('network', 'ECONNREFUSED', 'connection refused', 'ECONNREFUSED'), status: 'skip' },
});
