import type { Output } from '../cli/output.ts';
import type { Prompts } from '../cli/prompts.ts';
import type { Settings } from '../config/settings.ts';
import type { Client } from '../oauth/token-endpoint.ts';
import type { Host, SendOptions } from '../platform/host.ts';
import type { HeldLock } from '../platform/lock.ts';
import type { Send } from '../platform/send.ts';
import { readAccount } from '../session/account.ts';
import { flowAgain } from '../session/command-for.ts';
import type { Place } from '../session/place.ts';
import { reachedHere } from '../session/points.ts';
import { probeToken } from '../session/probe.ts';
import type { Binding } from '../session/record.ts';
import { createSession, type Session } from '../session/session.ts';
import type { CredentialStore } from '../session/store.ts';
import { withWayBack } from '../session/way-back.ts';

/** What a session is made of; the context has all of it. */
export interface SessionParts {
  readonly host: Host;
  readonly output: Pick<Output, 'note' | 'warn'>;
  readonly prompts: Pick<Prompts, 'interactive' | 'confirm'>;
  readonly place: Place;
  readonly store: CredentialStore;
  readonly client: (settings: Settings, binding: Binding) => Promise<Client>;
  readonly send: (options?: Pick<SendOptions, 'fresh'>) => Promise<Send>;
  readonly lock: (path: string) => Promise<HeldLock>;
  readonly requireSafe: () => void;
}

/** Logs in again where a session has ended; false when that is not wanted or cannot be. */
export type ComeBack = (parts: SessionParts, settings: Settings, binding: Binding) => Promise<boolean>;

/** The stored session of a profile; in a terminal one that has ended offers the way back. */
export function storedSession(parts: SessionParts, settings: Settings, binding: Binding, comeBack: ComeBack): Session {
  const { host, output, place, store, send } = parts;
  const session = createSession({
    profile: settings.profileName,
    binding,
    // The query form names no client credentials at refresh (spec.md §5.3), so the store is not asked for them.
    client: async () =>
      (settings.values.token_params ?? 'query') !== 'query'
        ? parts.client(settings, binding)
        : { authOrigin: binding.authOrigin, clientId: binding.clientId, tokenParams: 'query' },
    store,
    send: () => send({ fresh: true }),
    lock: () => parts.lock(place.lock),
    probe: async (token, signal) => probeToken(await send({ fresh: true }), binding.baseOrigin, token, signal),
    random: host.random,
    flowAgain: (sid) => {
      const account = readAccount(host.folders.config, settings.profileName);
      return flowAgain(account?.sid === sid ? account.flow : undefined, settings.values.flow);
    },
    clock: host.clock,
    signals: host.signals,
    requireSafe: parts.requireSafe,
    warn: output.warn,
    reached: reachedHere(host.env),
  });
  if (!parts.prompts.interactive) return session;
  return withWayBack(session, () => comeBack(parts, settings, binding));
}
