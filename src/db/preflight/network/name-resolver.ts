import { lookup, Resolver } from 'node:dns/promises';
import { readErrorCode } from '../../../platform/build-network-http-send-error.ts';
import type { HostNameLookupResult } from './network-facts.ts';

/**
 * Resolves names. `lookup` uses the resolver of this machine, with its hosts file; the other functions query DNS
 * directly.
 */
export interface HostNameResolver {
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly resolve4: (host: string) => Promise<readonly string[]>;
  readonly resolve6: (host: string) => Promise<readonly string[]>;
}

/** @param limit milliseconds for a response of a name server */
export function createSystemHostNameResolver(limit: number): HostNameResolver {
  const resolver = new Resolver({ timeout: limit / 2, tries: 2 });
  return {
    lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    resolve4: (host) => resolver.resolve4(host),
    resolve6: (host) => resolver.resolve6(host),
  };
}

/** The result of a name lookup within `limit` milliseconds; a failure is a result too. */
export async function limitHostNameLookupTime(
  asked: Promise<readonly string[]>,
  limit: number,
): Promise<HostNameLookupResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<HostNameLookupResult>((resolve) => {
    timer = setTimeout(() => resolve(failed('ETIMEOUT')), limit);
  });
  const answer = asked.then(
    (addresses): HostNameLookupResult =>
      addresses.length === 0 ? failed('ENODATA') : { kind: 'found', addresses: [...new Set(addresses)] },
    (error: unknown) => failed(readErrorCode(error) ?? 'EFAIL'),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Error codes with which DNS reports that the name has no such record. */
export function isDnsRecordAbsent(answer: HostNameLookupResult): boolean {
  return answer.kind === 'failed' && (answer.code === 'ENOTFOUND' || answer.code === 'ENODATA');
}

function failed(code: string): HostNameLookupResult {
  return { kind: 'failed', code, reason: reasons[code] ?? `DNS failed (${code})` };
}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name does not exist',
  ENODATA: 'the name has no such address',
  EAI_AGAIN: 'the name server does not respond',
  ETIMEOUT: 'the name server does not respond',
  ECONNREFUSED: 'no name server can be reached',
  ESERVFAIL: 'the name server failed',
  EBADNAME: 'it is not a valid name',
};
