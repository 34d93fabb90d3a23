import { authCleartextCheck } from '../../../../../src/db/preflight/redis/checks/auth-cleartext.ts';
import { literal } from '../../network/sample.ts';
import { checkCases } from '../check-cases.ts';

const address = literal('198.51.100.7');
const password = { connection: { kind: 'connected', auth: 'password' } } as const;

checkCases(authCleartextCheck, {
  'a password without TLS': { facts: { ...password, address, ssl: false }, status: 'warn' },
  'one that the server does not have': {
    facts: { connection: { kind: 'connected', auth: 'needless' }, address, ssl: false },
    status: 'warn',
  },
  'a password over TLS': { facts: { ...password, address, ssl: true }, status: 'pass' },
  'a password on this machine': { facts: { ...password, address: literal('127.0.0.1'), ssl: false }, status: 'pass' },
  'no password': { facts: { connection: { kind: 'connected', auth: 'open' }, address, ssl: false }, status: 'pass' },
});
