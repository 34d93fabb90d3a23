import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { CommandContext } from '../../../context.ts';
import { createSharedSessionEncryptor } from '../../../session/sealed-session.ts';
import { readLocalCopyOfSharedSession } from '../../../session/shared-copy.ts';
import {
  compareSharedSessionVersions,
  isRefreshLeaseHeld,
  listMachinesWithUnreportedRefresh,
} from '../../../shared-store/shared-session.ts';
import { withOpenSharedStore } from './use-share.ts';

interface ShareStatusReport {
  readonly share: string;
  readonly store: string;
  readonly machine: string;
  readonly key_place: 'variable' | 'file' | 'keychain';
  /** `no_session`: there has been no login, or a logout ended the session. */
  readonly state: 'session' | 'no_session' | 'unknown_key' | 'damaged';
  readonly epoch: number | null;
  readonly generation: number | null;
  /** How the session copy of this machine compares to the session in the store: `older` means that the copy is older. */
  readonly copy: 'none' | 'same' | 'older' | 'newer' | 'conflict';
  readonly key: string | null;
  readonly active_key: string | null;
  /** The machine that is refreshing the session. */
  readonly holder: string | null;
  /** The machines that began a refresh of the current generation and have not reported. */
  readonly unreported: readonly string[];
  /** Whether the server has refused the refresh token of the current generation. */
  readonly refused: boolean;
  /** The clock of this machine minus the clock of the database server. */
  readonly clock_offset_ms: number;
}

const view: ListView<ShareStatusReport> = {
  columns: [
    { name: 'Share', value: (row) => row.share },
    { name: 'Store', value: (row) => row.store },
    { name: 'Machine', value: (row) => row.machine },
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'Epoch', value: (row) => row.epoch },
    { name: 'Generation', value: (row) => row.generation },
    { name: 'Copy', value: (row) => row.copy },
    { name: 'Key', value: (row) => row.key },
    { name: 'ActiveKey', value: (row) => row.active_key, extra: true },
    { name: 'KeyPlace', value: (row) => row.key_place, extra: true },
    { name: 'Holder', value: (row) => row.holder },
    { name: 'Unreported', value: (row) => row.unreported.join(' ') },
    { name: 'Refused', value: (row) => row.refused },
    { name: 'ClockOffsetMs', value: (row) => row.clock_offset_ms, extra: true },
  ],
};

export const shareStatusCommand: CommandSpec<CommandContext> = {
  description:
    'Prints the version of the session in the shared store and of the copy on this machine, the machine that refreshes it now, and the machines that began a refresh and have not reported. Nothing is changed.',
  examples: [{ text: 'Show the share', command: 'cloudctl auth share status' }],
  columns: view.columns,
  run: async (context) => {
    await withOpenSharedStore(context, async ({ settings, share, found, store }) => {
      const { row, nowMs } = await store.run({ op: 'read' });
      const copy = readLocalCopyOfSharedSession(context.profilePaths(settings.profileName), found.keys.share);
      const sealer = createSharedSessionEncryptor(found.keys, settings.profileName, context.host.random);
      const opened = row === undefined ? undefined : sealer.open(row).kind;
      const machine = share.machine();
      const isHeld = row !== undefined && isRefreshLeaseHeld(row, nowMs);
      const report: ShareStatusReport = {
        share: found.keys.share,
        store: store.location,
        machine,
        key_place: found.from,
        state: opened === undefined || opened === 'tombstone' ? 'no_session' : opened === 'record' ? 'session' : opened,
        epoch: row?.epoch ?? null,
        generation: row?.gen ?? null,
        copy: copy === undefined ? 'none' : row === undefined ? 'newer' : compareSharedSessionVersions(copy, row),
        key: row?.kid ?? null,
        active_key: row?.activeKid ?? null,
        holder: isHeld ? (row.holder ?? null) : null,
        unreported: row === undefined || isHeld ? [] : listMachinesWithUnreportedRefresh(row),
        refused: row !== undefined && row.refusedGen === row.gen,
        clock_offset_ms: Math.round(context.host.clock.now() - nowMs),
      };
      await context.output.object(report, view);
    });
    return 0;
  },
};
