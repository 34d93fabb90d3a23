import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';

/** A continuous migration to a Valkey 8 on the same machine. */
export function preflightOptions(changes: Partial<PreflightOptions> = {}): PreflightOptions {
  return {
    method: 'continuous',
    targetVersion: 'valkey-8',
    targetExtensions: undefined,
    target: undefined,
    ignoreDbs: [],
    disableSsl: true,
    isOverInternet: false,
    sourceDiskFree: undefined,
    accept: [],
    strict: false,
    probe: false,
    now: Date.UTC(2026, 0, 15),
    ...changes,
  };
}
