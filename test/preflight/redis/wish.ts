import type { PreflightOptions } from '../../../src/preflight/preflight-options.ts';

/** Someone who asks for a continuous migration into a Valkey 8 on the same machine. */
export function wish(changes: Partial<PreflightOptions> = {}): PreflightOptions {
  return {
    method: 'continuous',
    targetVersion: 'valkey-8',
    targetExtensions: undefined,
    target: undefined,
    ignoreDbs: [],
    disableSsl: true,
    asPublic: false,
    sourceDiskFree: undefined,
    accept: [],
    strict: false,
    probe: false,
    now: Date.UTC(2026, 0, 15),
    ...changes,
  };
}
