import type { Environment } from '../platform/host.ts';
import { cleanUp } from './clean-up.ts';
import { type EnginePorts, type MigrationJob, usualWaits } from './job.ts';
import { memoryJournal } from './journal.ts';
import { openJournalFile } from './journal-file.ts';
import { type Migration, startMigration } from './migration.ts';
import { type DataPlane, openDataPlane } from './plane.ts';
import { machinePorts } from './ports.ts';
import { type RequestedSource, readPostgresRequest, readRedisRequest } from './request.ts';
import { chooseSchemaCopy } from './schema/choose.ts';
import type { Leftover } from './state.ts';

export interface EngineOptions {
  /** The file of the journal; absent: what is made is remembered until the process ends. */
  readonly journal?: string;
  /** Milliseconds of the virtual clock. */
  readonly now: () => number;
  /** Where programs such as pg_dump are looked for; absent: nowhere. */
  readonly env?: Environment;
  readonly ports?: Partial<EnginePorts>;
}

export interface Order {
  readonly id: string;
  readonly plane: DataPlane;
  readonly source: RequestedSource;
  readonly ignoreDbs: readonly string[];
  readonly deadline: number;
  readonly finishWhenIdle: boolean;
  /** Nothing is done before it settles: another migration that is still being ended. */
  readonly after?: Promise<unknown> | undefined;
}

/** Everything a caller needs who knows nothing of servers. */
export interface Engine {
  open(url: string): Promise<DataPlane>;
  /** A sentence: what in the request cannot be meant. */
  start(order: Order): Migration | string;
  /** Removes what an earlier process has left behind. Resolves with what could not be removed. */
  cleanUp(): Promise<readonly Leftover[]>;
  /** Stops every migration and waits until nothing of them is left. */
  close(): Promise<void>;
}

export function createEngine({ journal: path, now, env = {}, ports: own }: EngineOptions): Engine {
  const file = path === undefined ? undefined : openJournalFile(path);
  const ports = machinePorts({ now, journal: file ?? memoryJournal(), schemaCopy: chooseSchemaCopy({ env }), ...own });
  const running = new Set<Migration>();
  const begin = (job: MigrationJob, after: Promise<unknown> | undefined): Migration => {
    const migration = startMigration(job, ports, after);
    running.add(migration);
    void migration.ended.then(() => running.delete(migration));
    return migration;
  };
  return {
    open: (url) => openDataPlane(url, ports),
    start({ plane, source: asked, after, ...order }) {
      if (plane.engine === 'postgresql') {
        const read = readPostgresRequest(asked);
        return read.ok
          ? begin({ ...order, engine: 'postgresql', source: read.source, target: plane.door }, after)
          : read.message;
      }
      const read = readRedisRequest(asked);
      return read.ok
        ? begin({ ...order, engine: 'redis', source: read.source, target: plane.door }, after)
        : read.message;
    },
    cleanUp: () => cleanUp({ ...ports, waits: { ...ports.waits, removal: Math.min(ports.waits.removal, atStart) } }),
    async close() {
      await Promise.all([...running].map((migration) => migration.stop('interrupted')));
      file?.close();
    },
  };
}

/** A source that is gone for good should not keep anybody waiting: it is asked again at the next start. */
const atStart = Math.min(usualWaits.removal, 5000);
