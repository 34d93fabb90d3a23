import type { AddressFacts, LookupResult } from '../../../../src/db/preflight/network/addresses.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';

export const healthyWish: PreflightOptions = {
  method: 'continuous',
  targetVersion: '18',
  targetExtensions: undefined,
  target: undefined,
  ignoreDbs: [],
  disableSsl: false,
  isOverInternet: true,
  sourceDiskFree: undefined,
  accept: [],
  strict: false,
  probe: false,
  now: Date.UTC(2030, 0, 1),
};

export function found(...addresses: readonly string[]): LookupResult {
  return { kind: 'found', addresses };
}

export function failed(code = 'ENOTFOUND', reason = 'the name does not exist'): LookupResult {
  return { kind: 'failed', code, reason };
}

/** A public name with one public address that answers. */
export const healthyAddress: AddressFacts = {
  host: 'db.example.com',
  port: 5432,
  kind: 'name',
  contradictions: [],
  lookup: found('8.8.4.4'),
  dns4: found('8.8.4.4'),
  dns6: failed('ENODATA', 'the name has no such address'),
  connects: [{ address: '8.8.4.4', took: 12 }],
};

/** An address literal. */
export function literal(address: string): AddressFacts {
  const known = found(address);
  return {
    ...healthyAddress,
    host: address,
    kind: 'address',
    lookup: known,
    dns4: known,
    dns6: known,
    connects: [{ address, took: 1 }],
  };
}
