import { expect, test } from 'vitest';
import type { CheckFinding, FindingFix } from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import type { RedisCheck } from '../../../../src/db/preflight/redis/check.ts';
import type { KeySample, RedisSourceFacts } from '../../../../src/db/preflight/redis/source.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { outcomeText } from '../outcome-text.ts';
import { effectsEvaluator, evaluateRecorded, type Recorded, sourceFacts } from './recorded.ts';
import { healthy } from './recordings.ts';

export interface CheckCase {
  readonly server?: Recorded;
  readonly facts?: Partial<RedisSourceFacts>;
  readonly options?: Partial<PreflightOptions>;
  readonly status: CheckFinding['status'];
  /** The methods that a `fail` blocks. */
  readonly blocks?: readonly string[];
  readonly objects?: readonly string[];
  /** The databases that the finding concerns, when not all. */
  readonly only?: readonly string[];
  /** What the fix runs, without its words. */
  readonly fix?: FixValues;
  /** The status with the fix applied, when it is not `pass`. */
  readonly fixed?: CheckFinding['status'];
}

type FixValues = Pick<FindingFix, (typeof fixValues)[number]>;

const fixValues = ['sql', 'undo', 'review', 'undoReview', 'shell', 'undoShell', 'restart', 'reload'] as const;

/** One test for each case of a check; the rest of the server is in order. The wording is in the golden file. */
export function checkCases(check: RedisCheck, cases: Readonly<Record<string, CheckCase>>): void {
  test.each(Object.entries(cases))(
    '%s',
    async (_name, { server = healthy(), facts = {}, options = {}, fixed = 'pass', ...expected }) => {
      const changes = { facts, options };
      const finding = (await evaluateRecorded(server, changes, [check])).get(check.id);
      if (finding === undefined) throw new Error(`${check.id} has no finding`);
      expect(finding).toMatchObject({ id: check.id, title: check.title, scope: 'server' });
      const { status, blocks, objects, only, fix = {} } = finding;
      const given = Object.entries(fix).filter(([name]) => fixValues.some((value) => value === name));
      expect({ status, blocks, objects, only, fix: Object.fromEntries(given) }).toEqual({
        blocks: [],
        fix: {},
        ...expected,
      });
      const statements = [...(finding.fix?.sql ?? []), ...(finding.fix?.shell ?? [])];
      if (finding.fix?.effects !== undefined) {
        const evaluate = await effectsEvaluator(server, changes, [check]);
        const after = evaluate(finding.fix.effects.map((effect) => ({ effect, database: undefined }))).changed;
        expect(after.get(check.id), JSON.stringify(after.get(check.id))).toMatchObject({ status: fixed });
      } else if (statements.length > 0) expect(finding.fix?.notSimulated).toBeTypeOf('string');
      const { headline, ...outcome } = finding;
      expectGolden('db-preflight-redis', outcomeText(headline === check.headline ? outcome : finding));
    },
  );

  test('the cases contain an outcome that passes and one that does not', () => {
    const statuses = Object.values(cases).map(({ status }) => status);
    expect(statuses.some((status) => status !== 'pass' && status !== 'skip')).toBe(true);
    // maxmemory always reports the amount of data.
    expect(check.id === 'maxmemory' || statuses.includes('pass')).toBe(true);
  });
}

export const both = ['continuous', 'scan'];

export const base = sourceFacts().address;

export const dialled = {
  ...base,
  connects: [{ address: '127.0.0.1', took: 1 }],
  lookup: found('127.0.0.1'),
  dns4: found('127.0.0.1'),
};

export const denied = 'NOPERM this user has no permissions to run';

export function found(...addresses: readonly string[]) {
  return { kind: 'found', addresses } as const;
}

export function absent() {
  return { kind: 'failed', code: 'ENODATA', reason: 'the name has no such address' } as const;
}

export function resolved(address: string) {
  return { ...base, lookup: found(address), dns4: found(address) };
}

export function unresolved() {
  const nothing = { kind: 'failed', code: 'ENOTFOUND', reason: 'the name does not exist' } as const;
  return { ...base, lookup: nothing, dns4: nothing, dns6: nothing, connects: [] };
}

/** A connection that did not come about. */
export function cut(
  phase: 'network' | 'tls' | 'startup',
  code: string,
  message: string,
  error?: string,
): Partial<RedisSourceFacts> {
  const connects = [{ address: '203.0.113.7', took: 5000, ...(error === undefined ? {} : { error }) }];
  return { connection: { kind: 'refused', phase, code, message }, address: { ...base, connects } };
}

export function certificate(days: number): RedisSourceFacts['tls'] {
  const validTo = Date.UTC(2026, 0, 15) + days * 86_400_000;
  return {
    offered: 'yes',
    version: 'TLSv1.3',
    certificate: { subject: 'CN=r', issuer: 'CN=ca', validTo, selfSigned: false },
  };
}

/** What PING was answered with. */
export function told(code: string, message: string): Partial<RedisSourceFacts> {
  return { connection: { kind: 'connected', auth: 'open', notice: { code, message } } };
}

/** No byte is left of maxmemory. */
export function filled(
  policy: string,
  config: Readonly<Record<string, string>> = {},
  info: Readonly<Record<string, string>> = {},
): Recorded {
  return healthy({
    info: { maxmemory: '1000000000', maxmemory_policy: policy, used_memory: '1000000000', ...info },
    config: { 'repl-backlog-size': '1048576', ...config },
  });
}

export function writing(writes: number): Partial<RedisSourceFacts> {
  return { rate: { writes, source: 'stream', evicted: 0, expired: 0 } };
}

export function sampled(key: { readonly type?: string; readonly bytes?: number }): {
  kind: 'known';
  value: KeySample;
} {
  return {
    kind: 'known',
    value: { keys: [{ database: 0, name: 'k', type: key.type ?? 'string', bytes: key.bytes }], isAll: true },
  };
}

export function broken(settings: Readonly<Record<string, string>>): Recorded {
  return healthy({ info: { rdb_last_bgsave_status: 'err' }, config: settings });
}

export function limited(limit: string): Recorded {
  return healthy({ config: { 'client-output-buffer-limit': `normal 0 0 0 slave ${limit} pubsub 0 0 0` } });
}

export function config(recorded: Recorded): Readonly<Record<string, string>> {
  return recorded.config === 'hidden' ? {} : recorded.config;
}
