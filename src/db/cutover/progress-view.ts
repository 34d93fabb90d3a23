import type { CommandIo } from '../../cli/command-io.ts';
import type { EngineState } from '../engine/state.ts';
import type { DbSource } from '../source/read-source.ts';
import type { RehearsalRuleViolation } from './rehearsal-report.ts';
import { startRehearsalWatch } from './rehearsal-watch.ts';

/** Shows the progress of a rehearsal on stderr. */
export interface RehearsalProgressView {
  readonly onState: (state: EngineState) => void;
  /** Ends the display. Resolves with the rules of the service that were violated during the rehearsal, each once. */
  stop(): Promise<readonly RehearsalRuleViolation[]>;
}

export interface RehearsalProgressViewOptions {
  readonly method: 'continuous' | 'dump';
  readonly source: DbSource;
  readonly ignoreDbs: readonly string[];
  /** Names of the replication slots of the rehearsal; empty for Redis. */
  readonly slots: readonly string[];
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
}

/**
 * A continuous rehearsal is shown as `db watch` shows a migration. A dump has no replication slot to poll, so the view
 * counts the tables that are done.
 */
export async function startRehearsalProgressView(
  io: CommandIo,
  options: RehearsalProgressViewOptions,
): Promise<RehearsalProgressView> {
  const { method, ...watchOptions } = options;
  if (method === 'continuous') {
    const watch = await startRehearsalWatch(io, watchOptions);
    let stopping: Promise<readonly RehearsalRuleViolation[]> | undefined;
    return {
      onState: () => {},
      stop: () => {
        stopping ??= watch.stop();
        return stopping;
      },
    };
  }
  return {
    onState: ({ databases }) => {
      const tables = databases.flatMap((database) => database.tables);
      const copied = tables.filter(({ stage }) => stage === 'r').length;
      void io.progress.show(`${copied} of ${tables.length} tables copied`);
    },
    stop: async () => {
      await io.progress.stop();
      return [];
    },
  };
}
