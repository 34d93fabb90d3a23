import { decodeFault } from '../sandbox/faults/decode-fault.ts';
import { type SandboxServers, startSandboxServers } from '../sandbox/sandbox.ts';
import { advanceClock, freezeClock, resumeClock } from '../sandbox/virtual-clock.ts';
import type { World } from '../sandbox/world.ts';
import { createSandboxTokens, findPersonInTeam, type SandboxTokens } from './sandbox-tokens.ts';

export type { SandboxTokenPair, SandboxTokens } from './sandbox-tokens.ts';

/** How `startSandbox` starts a sandbox. Without options it keeps its state in memory and listens on free ports of 127.0.0.1. */
export interface SandboxOptions {
  /** PostgreSQL and Redis servers into which migrations copy rows. The URL contains the password. */
  readonly clusters?: readonly { readonly name: string; readonly url: string }[];
  /** The virtual clock at the start. Default: the time of this machine. */
  readonly clock?: { readonly startAt?: Date; readonly isFrozen?: boolean };
  /** Faults that are active from the first request. */
  readonly faults?: readonly SandboxFault[];
  /** An integer. Client credentials, passwords and ids are the same at every start with this seed; tokens never are. */
  readonly seed?: number;
  /** Redirect URIs of the application. Default: those of `cloudctl sandbox start`. */
  readonly callbackUrls?: readonly string[];
  /** What the consent page does. Default: it asks. */
  readonly consent?: SandboxConsent;
  /** Limit of requests, for example `5000/h,250/m`. Default: none. */
  readonly rateLimit?: string;
  /** The number of droplets that an account may have. Default: no limit. */
  readonly dropletLimit?: number;
  /** Folder that keeps the state after `stop`; one sandbox at a time uses it. Default: the state is lost. */
  readonly stateFolder?: string;
}

/** A running sandbox: an OAuth 2.0 authorization server and the v2 resource API, each with an origin of its own. */
export interface Sandbox {
  /** Origin of the authorization server, for example `http://127.0.0.1:41233`. */
  readonly authUrl: string;
  /** Origin of the resource API. */
  readonly apiUrl: string;
  /** The first page of the control panel. */
  readonly panelUrl: string;
  /** The registered application. */
  readonly client: { readonly id: string; readonly secret: string; readonly callbackUrl: string };
  readonly users: readonly SandboxUser[];
  readonly clusters: readonly {
    readonly uuid: string;
    readonly name: string;
    readonly engine: 'postgresql' | 'redis';
  }[];
  readonly tokens: SandboxTokens;
  readonly clock: SandboxClock;
  readonly faults: SandboxFaults;
  /** Selects what the consent page does with the next authorization requests. */
  setConsent(consent: SandboxConsent): void;
  /** The logged requests, oldest first. @param endpoint `METHOD path`; the path as sent, or of the route (`/v2/droplets/{id}`) */
  requests(endpoint?: string): readonly SandboxRequest[];
  /** Restores the state of the start, and removes all faults. */
  reset(): void;
  /** Stops both servers. Resolves when their ports are free. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SandboxUser {
  readonly email: string;
  readonly password: string;
  readonly uuid: string;
  readonly teams: readonly { readonly uuid: string; readonly name: string }[];
}

/** `user` is an e-mail address or a UUID; `team` is the name or the UUID of one of the user's teams. */
export type SandboxConsent =
  | { readonly mode: 'ask' }
  | { readonly mode: 'deny' }
  | { readonly mode: 'approve'; readonly user: string; readonly team?: string };

/** The virtual clock. It only moves forward. */
export interface SandboxClock {
  now(): Date;
  /** @param milliseconds 0 or more */
  advance(milliseconds: number): void;
  freeze(): void;
  resume(): void;
}

/** What happens to requests that match. An absent member of `match` matches every request. */
export interface SandboxFault {
  readonly match: { readonly method?: string; readonly path?: string; readonly grant_type?: string };
  /** For example `commit_then_drop`; `cloudctl sandbox faults add --help` lists the actions. */
  readonly action: string;
  /** The first matching request that it applies to, counted from 1 (default: 1). */
  readonly nth?: number;
  /** The number of requests that it applies to (default: 1). */
  readonly times?: number;
  /** Milliseconds. */
  readonly delay?: number;
  /** For the action `status` (default: 500). */
  readonly status?: number;
}

export interface SandboxFaults {
  /** Throws a TypeError for a fault that is not valid. */
  add(fault: SandboxFault): void;
  /** All faults with the number of requests that each was applied to. */
  list(): readonly (SandboxFault & { readonly applied: number })[];
  clear(): void;
}

/** A logged request, without its query and without secrets. */
export interface SandboxRequest {
  /** ISO 8601, by the virtual clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** 0 when a fault prevented the response. */
  readonly status: number;
  readonly grant_type?: string;
  /** The action of a fault that was applied. */
  readonly fault?: string;
}

/** Starts a sandbox. Rejects with an Error that has the `code` of the system (such as `EADDRINUSE`) when it cannot listen. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const offset = options.clock?.startAt === undefined ? 0 : options.clock.startAt.getTime() - Date.now();
  if (Number.isNaN(offset)) throw new TypeError('clock.startAt is not a valid date');
  const { stateFolder: state, clusters, seed, callbackUrls, rateLimit, dropletLimit } = options;
  const servers = await startSandboxServers({
    ...definedMembers({ state, clusters, seed, callbackUrls, rateLimit, dropletLimit }),
    now: () => Date.now() + offset,
  });
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

function sandboxOf({ ready, world, faults, requests, reset, close }: SandboxServers): Sandbox {
  return {
    authUrl: ready.auth_url,
    apiUrl: ready.base_url,
    panelUrl: ready.panel_url,
    client: { id: ready.client_id, secret: ready.client_secret, callbackUrl: ready.callback_url },
    users: ready.users,
    clusters: ready.clusters.map(({ uuid, name, engine }) => ({ uuid, name, engine })),
    tokens: createSandboxTokens(world),
    clock: {
      now: () => new Date(world.now()),
      advance: (milliseconds) => {
        if (!Number.isFinite(milliseconds) || milliseconds < 0) throw new RangeError('milliseconds must be 0 or more');
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
