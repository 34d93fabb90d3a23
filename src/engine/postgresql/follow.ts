import type { EnginePorts } from '../job.ts';
import type { PostgresEntry } from '../journal.ts';
import type { Progress } from '../state.ts';
import { MigrationError } from '../words.ts';
import { lookAtTarget, type SlotLook, type SourceLook, type TargetLook } from './look.ts';
import { watchName } from './names.ts';
import { holdSession } from './session.ts';
import type { Tower } from './tower.ts';

export interface Following {
  readonly entry: PostgresEntry;
  readonly targetVersion: number;
  readonly tower: Tower;
  readonly ports: EnginePorts;
  /** Ends it; what was being asked is given up. */
  readonly signal: AbortSignal;
}

/** Watches one database replicate, until the signal. Rejects when it cannot go on. */
export async function follow(
  { entry, targetVersion, tower, ports, signal }: Following,
  progress: Progress,
): Promise<void> {
  const target = holdSession(entry.target, ports, { name: watchName, signal });
  const judge = createJudge(ports, progress);
  tower.watch(entry.name);
  try {
    while (!signal.aborted) {
      const source = await tower.look();
      const look = await target.ask((session) => lookAtTarget(session, entry.name, targetVersion));
      const slot = source?.slots.get(entry.name);
      if (source !== undefined && (slot === undefined || slot.lost)) {
        throw new MigrationError(`the replication slot ${entry.name} is ${slot === undefined ? 'gone' : 'lost'}`);
      }
      if (source !== undefined && slot !== undefined && look !== undefined) judge(source, slot, look);
      await ports.sleep(ports.waits.poll, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await target.end();
  }
}

type Judge = (source: SourceLook, slot: SlotLook, look: TargetLook) => void;

/** Writes down what was seen, and how long nothing has been left to replicate. */
function createJudge({ now, waits }: EnginePorts, progress: Progress): Judge {
  let position: string | undefined;
  let latest: SourceLook | undefined;
  let failures: number | undefined;
  return (source, slot, look) => {
    const isReady = look.tables.every(({ stage }) => stage === 'r');
    progress.tables = look.tables;
    progress.lagBytes = slot.lagBytes;
    progress.phase = isReady ? 'streaming' : 'copying';
    failures ??= look.failures;
    noteFailures(progress, (look.failures ?? 0) - (failures ?? 0));
    if (!isReady || !slot.caughtUp || look.position !== position) {
      position = look.position;
      progress.idleSince = undefined;
      progress.idleLooks = 0;
    } else if (source !== latest) {
      progress.idleSince ??= now();
      // The clock may jump: what was written before the jump is only seen by the look after the next.
      progress.idleLooks = now() - progress.idleSince >= waits.idle ? progress.idleLooks + 1 : 0;
    }
    latest = source;
  };
}

function noteFailures(progress: Progress, failures: number): void {
  const note = 'the workers of the target fail and try again; its log says why';
  if (failures > 0 && !progress.warnings.includes(note)) progress.warnings.push(note);
}

/** Nothing was left to replicate for as long as it takes, and a look after that has found it so. */
export function isIdle({ idleLooks }: Pick<Progress, 'idleLooks'>): boolean {
  return idleLooks >= 2;
}
