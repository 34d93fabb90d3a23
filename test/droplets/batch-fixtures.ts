import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiClient, ApiRequest } from '../../src/api/client.ts';
import type { Batch } from '../../src/droplets/events.ts';
import type { Run } from '../../src/droplets/io.ts';
import { createLane } from '../../src/droplets/lane.ts';
import { createLedgerAt, type Ledger, type Machine } from '../../src/droplets/ledger.ts';
import { createFinder } from '../../src/droplets/lookup.ts';
import { defaultTimeLimits } from '../../src/droplets/times.ts';
import type { Clock } from '../../src/platform/host.ts';
import { systemClock } from '../../src/platform/waiting.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { testResponse } from '../api/test-response.ts';
import { makeFolders } from '../fixtures/folders.ts';
import type { TestClock } from '../fixtures/host.ts';

/** The first line of a ledger. */
export function batchOf(names: readonly string[], changes: Partial<Batch> = {}): Batch {
  return {
    event: 'batch',
    v: 1,
    id: 'b1',
    at: '2026-01-01T00:00:00.000Z',
    profile: 'default',
    base_url: 'https://api.example',
    if_exists: 'fail',
    attributes: { size: 's', image: 'i', extra: {} },
    names,
    ...changes,
  };
}

/** A ledger in a folder of the test's own. */
export async function ledgerFor(batch: Batch, clock: Clock = systemClock): Promise<Ledger> {
  const ledger = await createLedgerAt(testLedgerPath(), batch, { ...testMachine, clock });
  onTestFinished(() => ledger.close());
  return ledger;
}

export const testMachine: Machine = { clock: systemClock };

export function testLedgerPath(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  return join(folders.state, 'batches', 'b1.jsonl');
}

export function batchResponse(status: number, body: unknown = {}, more: Partial<ApiResponse> = {}): ApiResponse {
  return testResponse(status, body, { date: Date.parse('2026-01-01T00:00:00Z'), ...more });
}

export function namesOf({ body }: ApiRequest): readonly string[] {
  const sent: { readonly name?: string; readonly names?: readonly string[] } = JSON.parse(body ?? '');
  return sent.names ?? [sent.name ?? ''];
}

/** Everything asked for, with ids that count up from 100. */
export function respondCreated(request: ApiRequest): ApiResponse {
  const droplets = namesOf(request).map((name, at) => ({ id: 100 + at, name }));
  return batchResponse(202, { droplets, links: { actions: droplets.map(({ id }) => ({ id: id + 900 })) } });
}

/** A run with this ledger that nothing interrupts. */
export function testRun(ledger: Ledger, api: ApiClient, changes: Partial<Run> = {}): Run {
  const clock = changes.clock ?? instantClock();
  const lane = createLane({ api, loginHints: workLoginHints, clock, maxPause: 900_000, onPause: async () => {} });
  const never = new AbortController().signal;
  const run = {
    ledger,
    lane,
    finder: createFinder(lane),
    clock,
    times: defaultTimeLimits,
    refused: new Set<string>(),
    answered: new Set<string>(),
    foreign: new Set<string>(),
    ending: never,
    ended: never,
  };
  return { ...run, ...changes };
}

export type Respond = (request: ApiRequest, at: number) => ApiResponse | Promise<ApiResponse>;

export interface ScriptedApi extends ApiClient {
  readonly sent: ApiRequest[];
  readonly read: ApiRequest[];
}

/** An API that answers creations by `post`, and reads by `get`: an empty account unless told. */
export function apiOf(
  post: Respond,
  get: Respond = () => batchResponse(200, { droplets: [], meta: { total: 0 } }),
): ScriptedApi {
  const sent: ApiRequest[] = [];
  const read: ApiRequest[] = [];
  return {
    baseOrigin: 'https://api.example',
    sent,
    read,
    success: () => Promise.reject(new Error('not used')),
    json: () => Promise.reject(new Error('not used')),
    request: async (request) => {
      const [kept, respond] = request.method === 'POST' ? [sent, post] : [read, get];
      kept.push(request);
      return respond(request, kept.length - 1);
    },
  };
}

/** Every wait is over at once, and has lasted as long as it should have. */
export function instantClock(): Clock & { readonly slept: number[] } {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    sleep: async (ms, signal) => {
      // A request in flight is given its chance first.
      await new Promise((resolve) => setTimeout(resolve, 2));
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

/** Real time, made so much faster. */
export function fastClock(speed = 200): TestClock {
  const start = Date.now();
  let offset = 0;
  const now = (): number => start + (Date.now() - start) * speed + offset;
  return {
    now,
    advance: (ms) => {
      offset += ms;
    },
    sleep: async (ms, signal) => {
      const end = now() + ms;
      // A timer of the system may fire a millisecond early, which is many at this speed.
      do await after(ms / speed, undefined, signal === undefined ? {} : { signal });
      while (now() < end);
    },
  };
}
