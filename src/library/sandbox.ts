import { nearestWord } from '../cli/values.ts';
import type { SandboxDataClock } from '../sandbox/data-types.ts';
import { decodeFault } from '../sandbox/faults/decode-fault.ts';
import { type SandboxServers, startServers } from '../sandbox/sandbox.ts';
import { advanceClock, freezeClock, isClockTime, resumeClock } from '../sandbox/virtual-clock.ts';
import type { World } from '../sandbox/world.ts';
import { createSandboxTokenOperations, findPersonInTeam } from './sandbox-tokens.ts';
import type { Sandbox, SandboxConsent, SandboxOptions } from './sandbox-types.ts';

export { SandboxDataError } from '../sandbox/data-types.ts';
export type * from './sandbox-types.ts';

/** Starts a sandbox. Rejects with an Error that has the `code` of the system (such as `EADDRINUSE`) when it cannot listen. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  requireKnown('options', options, OPTIONS);
  const { stateFolder: state, data, clusters, seed, callbackUrls, rateLimit, dropletLimit } = options;
  const clock = options.clock === undefined ? undefined : clockOf(options.clock);
  const servers = await startServers(
    definedMembers({ state, data, clock, clusters, seed, callbackUrls, rateLimit, dropletLimit }),
  );
  try {
    if (options.clock?.isFrozen === true) servers.world.setClock(freezeClock);
    const sandbox = sandboxOf(servers);
    for (const fault of options.faults ?? []) sandbox.faults.add(fault);
    if (options.consent !== undefined) servers.world.firstConsent = consentScript(options.consent, servers.world);
    servers.world.consent = servers.world.firstConsent;
    return sandbox;
  } catch (error) {
    await servers.close();
    throw error;
  }
}

/**
 * A fixture for `test.extend` of vitest and of Playwright: a sandbox for each test, which ends with the test.
 * @example const test = base.extend({ sandbox: sandboxFixture({ seed: 1 }) });
 */
export function sandboxFixture(options: SandboxOptions = {}) {
  // Both test runners read the parameter list of a fixture and require an object pattern.
  // biome-ignore lint/correctness/noEmptyPattern: see above
  return async ({}: object, use: (sandbox: Sandbox) => Promise<void>): Promise<void> => {
    const sandbox = await startSandbox(options);
    try {
      await use(sandbox);
    } finally {
      await sandbox.stop();
    }
  };
}

const OPTIONS = [
  'clusters',
  'clock',
  'faults',
  'data',
  'seed',
  'callbackUrls',
  'consent',
  'rateLimit',
  'dropletLimit',
  'stateFolder',
] as const satisfies readonly (keyof SandboxOptions)[];

/** A caller without types can pass anything. */
function requireKnown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestWord(unknown, known);
  const meant = nearest === undefined ? `the members are ${known.join(', ')}` : `did you mean "${nearest}"?`;
  throw new TypeError(`${what} has the unknown member ${JSON.stringify(unknown)}; ${meant}`);
}

function clockOf(clock: NonNullable<SandboxOptions['clock']>): SandboxDataClock {
  requireKnown('clock', clock, ['startAt', 'isFrozen']);
  const { startAt, isFrozen } = clock;
  if (startAt !== undefined && !isClockTime(startAt.getTime()))
    throw new TypeError('clock.startAt is not a date from the year 1970 to 9998');
  return definedMembers({ startAt: startAt?.toISOString(), isFrozen });
}

function sandboxOf({ ready, world, faults, requests, reset, close }: SandboxServers): Sandbox {
  return {
    authUrl: ready.auth_url,
    apiUrl: ready.base_url,
    panelUrl: ready.panel_url,
    client: { id: ready.client_id, secret: ready.client_secret, callbackUrl: ready.callback_url },
    applications: ready.applications.map(({ name, client_id, client_secret, callback_urls }) => {
      return { name, id: client_id, secret: client_secret, callbackUrls: callback_urls };
    }),
    users: ready.users,
    clusters: ready.clusters.map(({ uuid, name, engine }) => ({ uuid, name, engine })),
    tokens: createSandboxTokenOperations(world),
    clock: {
      now: () => new Date(world.now()),
      advance: (milliseconds) => {
        if (!Number.isFinite(milliseconds) || milliseconds < 0) throw new RangeError('milliseconds must be 0 or more');
        if (!isClockTime(world.now() + milliseconds)) throw new RangeError('the clock ends with the year 9998');
        world.setClock((clock) => advanceClock(clock, milliseconds));
      },
      freeze: () => world.setClock(freezeClock),
      resume: () => world.setClock(resumeClock),
    },
    faults: {
      add: (fault) => {
        const spec = decodeFault(new Map(Object.entries(fault)));
        if (typeof spec === 'string') throw new TypeError(spec);
        faults.add(spec);
      },
      list: faults.list,
      clear: faults.clear,
    },
    setConsent: (consent) => {
      world.consent = consentScript(consent, world);
    },
    requests,
    reset,
    stop: close,
    [Symbol.asyncDispose]: close,
  };
}

function consentScript(consent: SandboxConsent, world: World): World['consent'] {
  if (consent.mode !== 'approve') return consent;
  return { mode: 'approve', ...findPersonInTeam(consent.user, consent.team, world) };
}

function definedMembers<T extends object>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { readonly [K in keyof T]?: Exclude<T[K], undefined> };
}
