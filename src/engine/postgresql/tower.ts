import type { PostgresSource } from '../../postgresql/source.ts';
import type { EnginePorts } from '../job.ts';
import { lookAtSource, type SourceLook } from './look.ts';
import { watchName } from './names.ts';
import { holdSession } from './session.ts';

/** Looks at the source for all databases at once. */
export interface Tower {
  /** Adds a slot to those that are looked at. */
  watch(name: string): void;
  /** A look that is not older than half of the time between two; undefined during an outage. */
  look(): Promise<SourceLook | undefined>;
  end(): Promise<void>;
}

export function createTower(source: PostgresSource, version: number, ports: EnginePorts, signal: AbortSignal): Tower {
  const names = new Set<string>();
  const held = holdSession(source, ports, { name: watchName, signal });
  let end: string | undefined;
  let latest: Promise<SourceLook | undefined> | undefined;
  let at = Number.NEGATIVE_INFINITY;
  let seen = new Set<string>();
  const look = async () => {
    const asked = [...names];
    const found = await held.ask((session) => lookAtSource(session, asked, end, version));
    end = found?.end ?? end;
    return found;
  };
  return {
    watch: (name) => void names.add(name),
    look() {
      const isFresh = performance.now() - at < ports.waits.poll / 2 && seen.size === names.size;
      if (latest === undefined || !isFresh) {
        at = performance.now();
        seen = new Set(names);
        // One after another: the session is one, and each look compares with the one before.
        latest = (latest ?? Promise.resolve()).then(look, look);
      }
      return latest;
    },
    end: held.end,
  };
}
