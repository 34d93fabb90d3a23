import type { WatchedSlot, WatchedWalSender } from './server-facts.ts';

/** The facts that identify the replication slots of the migration. */
export interface MigrationSlotHints {
  /** Slot names given with `--slot`. */
  readonly named: readonly string[];
  /** Slots of the migration that earlier polls or earlier commands found. */
  readonly known: readonly string[];
  /**
   * Slots of other consumers: those that existed before the migration started, or all slots in the first poll that
   * found no slot of the migration; undefined if not known.
   */
  readonly otherSlots: readonly string[] | undefined;
}

export interface MigrationSlotSelection {
  readonly slots: readonly WatchedSlot[];
  /**
   * Slots that share a database with other candidates, so that it is not certain which of them belongs to the
   * migration.
   */
  readonly ambiguous: readonly string[];
}

/**
 * Chooses the logical slots of the migration; others belong to other consumers. The first rule that matches applies:
 * slots given by name; known slots and slots named by a migration engine; pgoutput slots that appeared after the
 * migration started; else all pgoutput slots, which are ambiguous where one database has several.
 */
export function chooseMigrationSlots(slots: readonly WatchedSlot[], hints: MigrationSlotHints): MigrationSlotSelection {
  const main = slots.filter((slot) => slot.database !== undefined && !isTableSyncSlot(slot) && !slot.temporary);
  const certain = (found: readonly WatchedSlot[]): MigrationSlotSelection => ({ slots: found, ambiguous: [] });
  if (hints.named.length > 0) return certain(main.filter(({ name }) => hints.named.includes(name)));
  const recognized = main.filter(({ name }) => hints.known.includes(name) || isEngineName(name));
  if (recognized.length > 0) return certain(recognized);
  const pgoutput = main.filter(({ plugin }) => plugin === 'pgoutput');
  const { otherSlots } = hints;
  if (otherSlots !== undefined) return certain(pgoutput.filter(({ name }) => !otherSlots.includes(name)));
  const ambiguous = pgoutput.filter((slot) =>
    pgoutput.some((other) => other !== slot && other.database === slot.database),
  );
  return { slots: pgoutput, ambiguous: ambiguous.map(({ name }) => name) };
}

/**
 * Matches the slot names of table synchronization workers: `pg_16397_sync_16385_7710259631094951408`, up to PostgreSQL
 * 13 `sub_16397_sync_16385`.
 */
export function isTableSyncSlot({ name, temporary }: Pick<WatchedSlot, 'name' | 'temporary'>): boolean {
  return isTableSyncName(name) || (temporary && /_\d+_sync_\d+$/.test(name));
}

/** WAL senders of table synchronization workers, whose application_name is the name of their slot. */
export function isTableSyncSender({ application, state }: Pick<WatchedWalSender, 'application' | 'state'>): boolean {
  return isTableSyncName(application) || (state === 'startup' && /_\d+_sync_\d+$/.test(application));
}

function isTableSyncName(name: string): boolean {
  return /^pg_\d+_sync_\d+_\d+$/.test(name);
}

function isEngineName(name: string): boolean {
  return /^(cloudctl_|aiven_db_migrate_)/.test(name);
}

/** Finds the WAL sender of a slot by process id or by its replication command. */
export function findWalSenderOfSlot(
  slot: Pick<WatchedSlot, 'name' | 'pid'>,
  senders: readonly WatchedWalSender[],
): WatchedWalSender | undefined {
  return (
    senders.find((sender) => sender.pid === slot.pid) ??
    senders.find(({ command }) => slotInCommand(command) === slot.name)
  );
}

/**
 * Parses the slot name in `START_REPLICATION SLOT "s" LOGICAL 0/0 (proto_version '4', publication_names '"p","q"')`.
 */
function slotInCommand(command: string): string | undefined {
  return /^START_REPLICATION SLOT "((?:[^"]|"")+)"/.exec(command)?.[1]?.replaceAll('""', '"');
}

/** Parses the publications in the replication command of a WAL sender. */
export function parsePublicationsOfReplicationCommand(command: string): readonly string[] {
  const list = /publication_names '((?:[^']|'')*)'/.exec(command)?.[1]?.replaceAll("''", "'") ?? '';
  return [...list.matchAll(/"((?:[^"]|"")*)"/g)].map(([, name]) => name!.replaceAll('""', '"'));
}
