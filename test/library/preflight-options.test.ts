import { describe, expect, it } from 'vitest';
import { type PreflightRunOptions, preflight } from '../../src/library/preflight.ts';

describe('preflight', () => {
  const cases: [string, string, PreflightRunOptions?][] = [
    ['no source', 'x'],
    ['a source without a user', 'postgres://127.0.0.1:1/db'],
    ['a method of the other engine', 'postgres://u@127.0.0.1:1/db', { method: 'scan' }],
    ['a method of the other engine', 'redis://127.0.0.1:1', { method: 'dump' }],
    ['an invalid version', 'redis://127.0.0.1:1', { targetVersion: 'seven' }],
    ['an unknown check', 'postgres://u@127.0.0.1:1/db', { accept: ['no-such-check'] }],
  ];

  it.each(cases)('%s is an error before anything is sent', async (_, source, options?: PreflightRunOptions) => {
    await expect(preflight(source, options)).rejects.toMatchObject({ name: 'PreflightError', code: 'invalid_options' });
  });

  it('an unreachable source is a report, which names no password', async () => {
    const report = await preflight('postgres://u@127.0.0.1:1/db', { password: 'hunter22', allowPrivateAddress: true });
    expect(report).toMatchObject({ engine: 'postgresql', ok: false, verdict: 'blocked' });
    expect(JSON.stringify(report)).not.toContain('hunter22');
  });

  it('a signal ends the preflight', async () => {
    const signal = AbortSignal.abort();
    await expect(preflight('redis://127.0.0.1:1', { signal })).rejects.toMatchObject({ code: 'cancelled' });
  });
});
