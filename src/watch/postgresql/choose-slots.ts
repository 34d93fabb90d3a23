import type { ObservedSlot, ObservedWalSender } from './server-facts.ts';

/** What is known of the migration's slots besides what the server lists. */
export interface SlotHints {
  /** `--slot`. */
  readonly named: readonly string[];
  /** Seen to be the migration's in an earlier look, or an earlier run. */
  readonly known: readonly string[];
  /** There before the migration was started, or before the first look that found none of ours; undefined: not known. */
  readonly otherSlots: readonly string[] | undefined;
}

export interface SlotChoice {
  readonly slots: readonly ObservedSlot[];
  /** Several that could be it, and nothing tells them apart. */
  readonly ambiguous: readonly string[];
}

/**
 * Which of the logical slots are the migration's; others belong to somebody else's replication. In this order: those that
 * were named; those known from before and those with a name that engines of migrations give; those that appeared after the
 * migration was started; else all that speak pgoutput, which is told where there are several in one database.
 */
export function chooseMigrationSlots(slots: readonly ObservedSlot[], hints: SlotHints): SlotChoice {
  const main = slots.filter((slot) => slot.database !== undefined && !isTableSyncSlot(slot) && !slot.temporary);
  const certain = (found: readonly ObservedSlot[]): SlotChoice => ({ slots: found, ambiguous: [] });
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

/** Slots of initial copies: `pg_16397_sync_16385_7710259631094951408`, and up to 13 `sub_16397_sync_16385`. */
export function isTableSyncSlot({ name, temporary }: Pick<ObservedSlot, 'name' | 'temporary'>): boolean {
  return isTableSyncName(name) || (temporary && /_\d+_sync_\d+$/.test(name));
}

/** Workers that copy a table: their name is that of their slot. */
export function isTableSyncSender({ application, state }: Pick<ObservedWalSender, 'application' | 'state'>): boolean {
  return isTableSyncName(application) || (state === 'startup' && /_\d+_sync_\d+$/.test(application));
}

function isTableSyncName(name: string): boolean {
  return /^pg_\d+_sync_\d+_\d+$/.test(name);
}

function isEngineName(name: string): boolean {
  return /^(cloudctl_|aiven_db_migrate_)/.test(name);
}

/** The walsender of a slot: the one whose process holds it. */
export function walSenderOf(
  slot: Pick<ObservedSlot, 'name' | 'pid'>,
  senders: readonly ObservedWalSender[],
): ObservedWalSender | undefined {
  return (
    senders.find((sender) => sender.pid === slot.pid) ??
    senders.find(({ command }) => slotInCommand(command) === slot.name)
  );
}

/** `"s"` of `START_REPLICATION SLOT "s" LOGICAL 0/0 (proto_version '4', publication_names '"p","q"')`. */
function slotInCommand(command: string): string | undefined {
  return /^START_REPLICATION SLOT "((?:[^"]|"")+)"/.exec(command)?.[1]?.replaceAll('""', '"');
}

/** The publications a walsender reads, as its command says. */
export function publicationsInCommand(command: string): readonly string[] {
  const list = /publication_names '((?:[^']|'')*)'/.exec(command)?.[1]?.replaceAll("''", "'") ?? '';
  return [...list.matchAll(/"((?:[^"]|"")*)"/g)].map(([, name]) => name!.replaceAll('""', '"'));
}
