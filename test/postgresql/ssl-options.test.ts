import { expect, test } from 'vitest';
import { verifiesIdentity } from '../../src/postgresql/endpoint.ts';

const ca = { file: 'ca.pem', pem: '' };

test.each([
  ['no verification', undefined, false],
  ['verify-ca with the CAs that everybody trusts', { what: 'chain' } as const, false],
  ['verify-ca with a CA of its own', { what: 'chain', ca } as const, true],
  ['verify-full', { what: 'full' } as const, true],
])('%s', (_mode, verify, expected) => expect(verifiesIdentity(verify)).toBe(expected));
