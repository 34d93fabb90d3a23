import type { ServerFacts, SlotFacts, WalSender } from './facts.ts';

/** The names of the logical slots of a database that can belong to a migration: pgoutput slots, and those in `wanted`. */
export function listConsumerSlots(
  slots: readonly SlotFacts[],
  database: string,
  wanted: readonly (string | undefined)[],
): readonly string[] {
  return slots
    .filter((slot) => slot.database === database && !isTableSyncSlot(slot) && !slot.temporary)
    .filter(({ name, plugin }) => plugin === 'pgoutput' || wanted.includes(name))
    .map(({ name }) => name);
}

/** The system identifier of the server whose table synchronization runs in a database; undefined: none, or several. */
export function findSyncingSystem(
  database: string,
  { slots, senders }: Pick<ServerFacts, 'slots' | 'senders'>,
): string | undefined {
  const names = [
    ...slots.filter((slot) => slot.database === database).map(({ name }) => name),
    ...senders.filter((sender) => sender.database === database).map(({ application }) => application),
  ];
  const systems = new Set(names.flatMap((name) => /^pg_\d+_sync_\d+_(\d+)$/.exec(name)?.[1] ?? []));
  return systems.size === 1 ? [...systems][0] : undefined;
}

/**
 * Matches the slot names of table synchronization workers: `pg_16397_sync_16385_7710259631094951408`, up to PostgreSQL
 * 13 `sub_16397_sync_16385`.
 */
export function isTableSyncSlot({ name, temporary }: Pick<SlotFacts, 'name' | 'temporary'>): boolean {
  return isTableSyncName(name) || (temporary && /_\d+_sync_\d+$/.test(name));
}

/** WAL senders of table synchronization workers, whose application_name is the name of their slot. */
export function isTableSyncSender({ application, state }: Pick<WalSender, 'application' | 'state'>): boolean {
  return isTableSyncName(application) || (state === 'startup' && /_\d+_sync_\d+$/.test(application));
}

function isTableSyncName(name: string): boolean {
  return /^pg_\d+_sync_\d+_\d+$/.test(name);
}

/** Finds the WAL sender of a slot by process id or by its replication command. */
export function senderOfSlot(
  slot: Pick<SlotFacts, 'name' | 'pid'>,
  senders: readonly WalSender[],
): WalSender | undefined {
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
export function publicationsOf(command: string): readonly string[] {
  const list = /publication_names '((?:[^']|'')*)'/.exec(command)?.[1]?.replaceAll("''", "'") ?? '';
  return [...list.matchAll(/"((?:[^"]|"")*)"/g)].map(([, name]) => name!.replaceAll('""', '"'));
}
