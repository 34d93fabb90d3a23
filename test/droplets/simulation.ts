import { setImmediate as turn } from 'node:timers/promises';
import type { ApiResponse } from '../../src/api/api-response.ts';
import type { ApiClient, ApiRequest } from '../../src/api/client.ts';
import { CliError } from '../../src/base/errors.ts';
import { type Batch, decodeEvent, encodeEvent, type NewEvent, stamp } from '../../src/droplets/events.ts';
import { recordExisting } from '../../src/droplets/existing.ts';
import type { Ledger } from '../../src/droplets/ledger.ts';
import { deriveBatch } from '../../src/droplets/match.ts';
import { noOthers } from '../../src/droplets/running.ts';
import { sendMissing } from '../../src/droplets/send.ts';
import { type BatchState, createState } from '../../src/droplets/state.ts';
import type { Clock } from '../../src/platform/host.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import { testResponse } from '../api/test-response.ts';
import { testRun } from './batch-fixtures.ts';

/** What happens to one request; times in milliseconds from its arrival. */
export interface Trouble {
  /** It is carried out, so much later. */
  readonly commit: number | undefined;
  /** What the client sees, and when. */
  readonly end: 'answer' | 'cut' | '500' | 'garbage' | '429' | 'unsent';
  readonly after: number;
  /** Each name is seen in lists so long after it was carried out, the first name at once. */
  readonly hidden: number;
  /** The network is down: the request arrives when it is carried out, and the kernel still sends it when its process was killed. */
  readonly stuck?: boolean;
}

export interface Scenario {
  readonly names: readonly string[];
  readonly batchSize: number;
  readonly concurrency: number;
  /** With `--batch-id`. */
  readonly tagged: boolean;
  /** The server filters by `?name=`. */
  readonly honoured: boolean;
  /** One for each creation in turn; those after them go well. */
  readonly troubles: readonly Trouble[];
  /** Reads that fail, counted from 0. */
  readonly badReads: readonly number[];
  /** The process is killed at so many-th line of its run, each run in turn. */
  readonly kills: readonly Kill[];
  /** Droplets of other names that others create meanwhile. */
  readonly noise: number;
}

export interface Kill {
  readonly at: number;
  readonly line: 'lost' | 'torn' | 'whole';
  readonly down: number;
  /** The whole machine is: what no sync waited for is lost, and it starts anew. */
  readonly power: boolean;
}

export interface Outcome {
  readonly roster: BatchState;
  /** Ids by name, as the server has them. */
  readonly made: ReadonlyMap<string, readonly number[]>;
  readonly runs: number;
  readonly posts: number;
}

interface Made {
  readonly id: number;
  readonly name: string;
  readonly at: number;
  readonly seenFrom: number;
  readonly tags: readonly string[];
}

/** How long the kernel sends the request of a killed process, from the request on: 102 s and its first interval. */
const orphaned = 110_000;

/** The longest a request is carried out after its connection ended. */
export const lag = 12_000;

const start = Date.parse('2026-01-01T00:00:00Z');

/** Runs a batch against a server with troubles, killed and resumed as the scenario says, until nothing is left or nothing more comes of it. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const world = createWorld(scenario);
  const { names, tagged } = scenario;
  const attributes = { size: 's', image: 'i', extra: {} };
  const batch: Batch = {
    event: 'batch',
    v: 1,
    id: 'b',
    at: new Date(start).toISOString(),
    profile: 'default',
    base_url: 'https://api.example',
    if_exists: 'fail',
    attributes,
    names,
    ...(tagged ? deriveBatch('b', names, attributes) : {}),
  };
  let text = encodeEvent(batch);
  let runs = 0;
  // Each thing that goes wrong can cost a run.
  const most = scenario.kills.length + scenario.troubles.length + scenario.badReads.length + 2;
  for (; runs < most; runs++) {
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const roster = rosterOf(whole);
    if (roster.baseline() !== undefined && roster.missing().length + roster.uncertainGroups().length === 0) break;
    text = await oneRun(scenario, world, runs, { roster, lines: whole });
  }
  const made = new Map(names.map((name) => [name, world.made.filter((one) => one.name === name).map(({ id }) => id)]));
  return { roster: rosterOf(text), made, runs, posts: world.posts() };
}

function rosterOf(text: string): BatchState {
  const events = text
    .split('\n')
    .slice(0, -1)
    .map((line) => decodeEvent(line));
  const [first] = events;
  if (first?.event !== 'batch') throw new Error('the first line is no batch');
  const roster = createState(first);
  for (const event of events) {
    if (event === undefined) throw new Error('a whole line is no event');
    roster.apply(event);
  }
  return roster;
}

interface Left {
  readonly roster: BatchState;
  /** The whole lines of the ledger. */
  readonly lines: string;
}

/** A process that is dead does nothing more. */
class Death extends Error {}

/** One process, from its start to its end or to its death; gives the ledger as it leaves it. */
async function oneRun(scenario: Scenario, world: World, run: number, left: Left): Promise<string> {
  const kill = scenario.kills[run];
  const { roster } = left;
  let text = left.lines;
  let synced = left.lines;
  let lines = 0;
  let died: () => void = () => {};
  const death = new Promise<'dead'>((resolve) => {
    died = () => resolve('dead');
  });
  const process = { dead: false };
  const clock = world.clockOf(process);
  const record = (added: NewEvent): void => {
    if (process.dead) throw new Death();
    const event = stamp(added, clock);
    const line = encodeEvent(event);
    lines += 1;
    if (kill !== undefined && lines === kill.at) {
      process.dead = true;
      if (kill.power) text = synced;
      text += { lost: '', torn: line.slice(0, line.length >> 1), whole: line }[kill.line];
      world.hangUp(process);
      died();
      throw new Death();
    }
    text += line;
    roster.apply(event);
  };
  const ledger: Ledger = {
    path: 'ledger',
    close: async () => {},
    discard: async () => {},
    state: roster,
    flush: () => {},
    origin: run === 0 ? 'new' : 'resumed',
    record,
    commit: async (event) => {
      record(event);
      synced = text;
    },
  };
  const api = world.apiOf(process);
  const shared = testRun(ledger, api, { clock });
  const { batchSize, concurrency } = scenario;
  const work = (async () => {
    await sendMissing(shared, {
      prepare: async () => {
        await recordExisting(shared, noOthers, {
          onAdopted: async () => {},
          onDoubt: async () => {},
          onProven: async () => {},
        });
      },
      batchSize,
      concurrency,
      timeout: 30_000,
      onSettled: async () => {},
    });
  })();
  const settled = work.catch((error: unknown) => {
    if (!(error instanceof CliError || error instanceof Death)) throw error;
  });
  await world.until(Promise.race([settled, death]));
  await world.pass(kill?.down ?? 0);
  return text;
}

type World = ReturnType<typeof createWorld>;
type Process = { dead: boolean };

function createWorld(scenario: Scenario) {
  let now = start;
  let posts = 0;
  let reads = 0;
  let nextId = 1000;
  const made: Made[] = [];
  const timers: { readonly at: number; readonly run: () => void }[] = [];
  const open = new Set<{ readonly owner: Process; readonly hungUp: () => void }>();
  const later = (ms: number, run: () => void) => {
    const timer = { at: now + ms, run };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer) >>> 0, timers.includes(timer) ? 1 : 0);
  };
  for (let at = 0; at < scenario.noise; at++)
    later(at * 777, () => void made.push({ id: nextId++, name: `other-${at}`, at: now, seenFrom: now, tags: [] }));

  const settle = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) await turn();
  };
  const step = async (): Promise<boolean> => {
    const [next] = [...timers].sort((left, right) => left.at - right.at);
    if (next === undefined) return false;
    timers.splice(timers.indexOf(next), 1);
    now = Math.max(now, next.at);
    next.run();
    await settle();
    return true;
  };

  const post = (owner: Process, { body = '' }: ApiRequest): Promise<ApiResponse> => {
    const sent: { name?: string; names?: string[]; tags?: string[] } = JSON.parse(body);
    const trouble = scenario.troubles[posts++] ?? { commit: 5, end: 'answer', after: 10, hidden: 0 };
    const names = sent.names ?? [sent.name ?? ''];
    const born: Made[] = [];
    const commit = () => {
      for (const [at, name] of names.entries()) {
        const seenFrom = now + (at === 0 ? 0 : trouble.hidden);
        born.push({ id: nextId++, name, at: now, seenFrom, tags: sent.tags ?? [] });
      }
      made.push(...born);
    };
    const due = now + (trouble.commit ?? 0);
    const done = trouble.commit !== undefined && trouble.end !== '429' && trouble.end !== 'unsent';
    const cancel = done ? later(trouble.commit, commit) : () => {};
    return new Promise((resolve, reject) => {
      // A server that lost its client drops what it would only have done much later.
      const orphanedUntil = trouble.stuck === true ? now + orphaned : 0;
      const socket = { owner, hungUp: () => (due > Math.max(now + lag, orphanedUntil) ? cancel() : undefined) };
      open.add(socket);
      later(trouble.after, () => {
        if (owner.dead) return;
        open.delete(socket);
        switch (trouble.end) {
          case 'cut':
            return reject(lost(true));
          case 'unsent':
            return reject(lost(false));
          case '500':
            return resolve(answer(500, { message: 'oops' }));
          case '429':
            return resolve({ ...answer(429, {}), retryAfter: 3 });
          case 'garbage':
            return resolve(answer(202, '<html>'));
          case 'answer':
            return resolve(born.length === 0 ? answer(500, {}) : answer(202, { droplets: born.map(view) }));
          default:
            return trouble.end satisfies never;
        }
      });
    });
  };
  const read = (path: string): Promise<ApiResponse> => {
    const bad = scenario.badReads.includes(reads++);
    const query = new URL(path, 'https://api.example').searchParams;
    const wanted = scenario.honoured ? query.get('name') : null;
    return new Promise((resolve) => {
      later(3, () => {
        const seen = made.filter((one) => one.seenFrom <= now && (wanted === null || one.name === wanted));
        const page = Number(query.get('page'));
        const size = 5;
        const last = Math.ceil(seen.length / size);
        const links = page < last ? { pages: { next: `/v2/droplets?page=${page + 1}` } } : {};
        const droplets = seen.slice((page - 1) * size, page * size).map(view);
        // A filtered list of this server is always one page.
        const whole = wanted === null ? { droplets, links } : { droplets: seen.map(view), links: {} };
        resolve(bad ? answer(503, {}) : answer(200, { ...whole, meta: { total: seen.length } }));
      });
    });
  };
  const answer = (status: number, body: unknown): ApiResponse =>
    testResponse(status, body, { date: Math.floor(now / 1000) * 1000 });

  return {
    made,
    posts: () => posts,
    apiOf: (owner: Process): ApiClient => ({
      baseOrigin: 'https://api.example',
      success: () => Promise.reject(new Error('not used')),
      json: () => Promise.reject(new Error('not used')),
      request: (request) => {
        if (owner.dead) return never();
        return request.method === 'POST' ? post(owner, request) : read(request.path);
      },
    }),
    clockOf: (owner: Process): Clock => ({
      now: () => now,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          const stop = (): void => {
            cancel();
            reject(signal?.reason);
          };
          const cancel = later(ms, () => {
            signal?.removeEventListener('abort', stop);
            if (!owner.dead) resolve();
          });
          if (signal?.aborted) return stop();
          signal?.addEventListener('abort', stop);
        }),
    }),
    hangUp: (owner: Process) => {
      for (const socket of open) if (socket.owner === owner) socket.hungUp();
    },
    /** Lets time pass until the work is over. */
    until: async (work: Promise<unknown>): Promise<void> => {
      let over = false;
      const end = work.finally(() => {
        over = true;
      });
      await settle();
      while (!over) if (!(await step())) throw new Error('everybody waits for nothing');
      await end;
    },
    pass: async (ms: number): Promise<void> => {
      const end = now + ms;
      while (timers.some(({ at }) => at <= end)) await step();
      now = Math.max(now, end);
    },
  };
}

function view({ id, name, at, tags }: Made): object {
  const created_at = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  return { id, name, created_at, tags, size_slug: 's', image: { id: 7, slug: 'i' }, region: { slug: 'r' } };
}

function lost(sent: boolean): CliError {
  return new CliError('unreachable', 'cut', { cause: new SendError('connection', sent, 'cut') });
}

function never(): Promise<never> {
  return new Promise(() => {});
}
