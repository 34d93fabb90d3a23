import { type Baseline, type Batch, type LedgerEvent, parseTimestamp, type Sending } from './events.ts';

/** The result row that is printed for a name. */
export type Row = { /** Path of the ledger, in the printed rows. */ readonly ledger?: string } & (
  | {
      readonly name: string;
      readonly status: 'created';
      readonly id: string;
      readonly action_id?: string;
      /** The public IPv4 address; known only after `--wait`. */
      readonly public_ipv4?: string;
    }
  | SkippedRow
  | { readonly name: string; readonly status: 'failed' | 'unknown'; readonly id?: string; readonly error: string }
);

/** The names of one creation request; the result of these names is not known. */
export interface UncertainGroup {
  readonly group: number;
  readonly names: readonly string[];
  /** The newest server time, in milliseconds, that was known before the first request for these names was sent. */
  readonly sentAfter: number | undefined;
  /** The local time, in milliseconds, of the last request for these names. */
  readonly sentAt: number | undefined;
  /** Whether the names may be sent again once no droplet has them. */
  readonly resend: boolean;
  /** Whether further lookups cannot settle the names. */
  readonly isFinal: boolean;
  /** The error that an earlier run recorded. */
  readonly error?: string;
}

export type Counts = Readonly<Record<Row['status'] | 'missing', number>>;

/**
 * The state of a batch, computed from the events of its ledger. Rows are built on demand.
 */
export interface BatchState {
  readonly batch: Batch;
  readonly baseline: () => Baseline | undefined;
  apply(event: LedgerEvent): void;
  readonly hasName: (name: string) => boolean;
  /** The index of a name in `batch.names`; -1 for a name outside the batch. */
  readonly positionOf: (name: string) => number;
  /** The row of the name at this index. @param notSent error of a name that was never sent */
  rowAt(at: number, notSent?: string): Row;
  rows(notSent?: string): Generator<Row>;
  /** Whether a droplet with the name at this index of the batch was created, or the name was skipped. */
  readonly isPresent: (at: number) => boolean;
  /** Whether the droplet with the name at this index of the batch was deleted together with the batch. */
  readonly isDeleted: (at: number) => boolean;
  readonly uncertainGroups: () => readonly UncertainGroup[];
  /** Names that are still to be created, in order, because no droplet of this batch has them. */
  readonly missing: () => readonly string[];
  /** Names that a droplet of another run had when the batch was last resumed, in order. */
  readonly taken: () => readonly string[];
  /** Names whose droplets were created, but not yet looked up once more for a second droplet. */
  readonly unchecked: () => readonly string[];
  /** Whether the ledger records a request, or a droplet that was found by its tag. */
  readonly wasSent: () => boolean;
  readonly counts: () => Counts;
  /** Whether the server refused each name that was to be created, so that the same requests create none of them. */
  readonly isRefused: () => boolean;
  /** Whether the droplet id belongs to a row of this batch, or did until the deletion: an outdated list may contain it. */
  ownsId(id: string): boolean;
  readonly nextGroup: () => number;
}

const [missing, uncertain, created, failed, skipped, deleted, taken] = [0, 1, 2, 3, 4, 5, 6];

/** The error of a name whose droplet was deleted with its batch. A resumed batch creates a deleted droplet again. */
const deletedText = 'deleted by `droplets batches delete`';
/** A resumed batch with `--if-exists fail` found a droplet of another run. */
const takenText = 'another run has created a droplet with this name';

export function createState(batch: Batch): BatchState {
  const { names } = batch;
  const positions = new Map(names.map((name, at) => [name, at]));
  const positionOf = (name: string): number => positions.get(name) ?? -1;
  const states = new Uint8Array(names.length);
  const ids: (string | undefined)[] = Array(names.length);
  /** The row for which each id was recorded as created; `ids` tells whether the row still has it. */
  const positionsOfIds = new Map<string, number>();
  const actions: (string | undefined)[] = Array(names.length);
  /** The last group in which each name was sent. */
  const lastGroups = new Int32Array(names.length);
  const errors = new Map<number, string>();
  const uncertainGroups = new Map<number, UncertainGroup>();
  const deletedIds = new Set<string>();
  let baseline: Baseline | undefined;
  let groups = 0;
  let wasSent = false;
  const unchecked = new Set<string>();
  /** Positions of the names that the server refused. */
  const refused = new Set<number>();

  const setState = (name: string, state: number, error?: string): number | undefined => {
    const at = positionOf(name);
    if (at === -1) return undefined;
    states[at] = state;
    refused.delete(at);
    if (error === undefined) errors.delete(at);
    else errors.set(at, error);
    return at;
  };
  const settle = (group: number, settled: readonly string[], keepRest: boolean): void => {
    const uncertainGroup = uncertainGroups.get(group);
    if (uncertainGroup === undefined) return;
    const isAll =
      settled.length === uncertainGroup.names.length && settled.every((name, at) => name === uncertainGroup.names[at]);
    const left = isAll ? [] : uncertainGroup.names.filter((name) => !settled.includes(name));
    if (left.length === 0 || !keepRest) uncertainGroups.delete(group);
    // The server carried out a part of the request, so its other names must not be sent again.
    else uncertainGroups.set(group, { ...uncertainGroup, names: left, resend: false });
  };
  const markUncertain = (name: string, group: number, error?: string): void => {
    const at = setState(name, uncertain, error);
    if (at === undefined) return;
    lastGroups[at] = group;
    // The droplet id is removed, because several droplets may have this name and the droplet of the batch is not known.
    ids[at] = undefined;
  };
  const startGroup = ({ group, names: sent, at, server_date: date }: Sending): void => {
    const before = uncertainGroups.get(group);
    const [sentAfter, sentAt] = [before?.sentAfter ?? parseTimestamp(date), parseTimestamp(at)];
    uncertainGroups.set(group, {
      group,
      names: sent,
      sentAfter,
      sentAt,
      resend: before?.resend ?? true,
      isFinal: false,
    });
    for (const name of sent) markUncertain(name, group);
  };
  /** Removes names that a later group sent again. The ledger may lack the event that ended the earlier group. */
  const currentNames = ({ group, names: sent, ...rest }: UncertainGroup): UncertainGroup => {
    const left = sent.filter((name) => lastGroups[positionOf(name)] === group);
    return { ...rest, group, names: left };
  };
  const applyBaseline = (found: Baseline): void => {
    const isFirst = baseline === undefined;
    // A later one contains only droplets of others that appeared since, and is the newest for names that were taken before.
    for (let at = 0; at < names.length; at++) if (states[at] === taken) states[at] = missing;
    baseline = isFirst
      ? found
      : {
          ...found,
          existing: { ...baseline?.existing, ...found.existing },
          differences: { ...baseline?.differences, ...found.differences },
        };
    if (batch.if_exists === 'create' || (isFirst && batch.if_exists === 'fail')) return;
    for (const [name, [id]] of Object.entries(found.existing)) {
      const at = setState(name, batch.if_exists === 'skip' ? skipped : taken);
      if (at !== undefined) ids[at] = id;
    }
  };

  const rowAt = (at: number, notSent = 'not sent'): Row => {
    const name = names[at] ?? '';
    const [id = '', action_id] = [ids[at], actions[at]];
    switch (states[at]) {
      case created:
        return action_id === undefined ? { name, status: 'created', id } : { name, status: 'created', id, action_id };
      case skipped:
        return skippedRow(name, ids[at], baseline);
      case uncertain:
        return { name, status: 'unknown', error: errors.get(at) ?? 'no complete response arrived' };
      case deleted:
        return { name, status: 'failed', error: deletedText };
      case taken:
        return { name, status: 'failed', id, error: takenText };
      default:
        return { name, status: 'failed', error: errors.get(at) ?? notSent };
    }
  };

  return {
    batch,
    baseline: () => baseline,
    apply(event) {
      if ('group' in event) groups = Math.max(groups, event.group);
      wasSent ||= event.event !== 'batch' && event.event !== 'baseline';
      switch (event.event) {
        case 'batch':
          return;
        case 'baseline':
          return applyBaseline(event);
        case 'checked':
          return unchecked.clear();
        case 'sending':
          return startGroup(event);
        case 'created': {
          for (const row of event.rows) {
            const at = setState(row.name, created);
            if (at === undefined) continue;
            // A lookup that found a droplet has seen whether there is another one.
            if (event.adopted !== true) unchecked.add(row.name);
            ids[at] = row.id;
            positionsOfIds.set(row.id, at);
            actions[at] = row.action_id;
          }
          const createdNames = event.rows.map(({ name }) => name);
          return settle(event.group, createdNames, true);
        }
        case 'failed':
          for (const name of event.names) {
            const at = setState(name, failed, event.error);
            if (at !== undefined && event.refused === true) refused.add(at);
          }
          return settle(event.group, event.names, false);
        case 'unknown': {
          const { group, names: left, resend, error, final } = event;
          uncertainGroups.set(group, {
            group,
            names: left,
            sentAfter: uncertainGroups.get(group)?.sentAfter,
            sentAt: uncertainGroups.get(group)?.sentAt,
            resend,
            isFinal: final === true,
            error,
          });
          for (const name of left) markUncertain(name, group, error);
          return;
        }
        case 'deleted':
          for (const { name, id } of event.rows) {
            deletedIds.add(id);
            const at = positionOf(name);
            if (states[at] !== created || ids[at] !== id) continue;
            setState(name, deleted);
            ids[at] = undefined;
          }
          return;
        default:
          return event satisfies never;
      }
    },
    hasName: (name) => positionOf(name) !== -1,
    positionOf: positionOf,
    rowAt,
    *rows(notSent) {
      for (let at = 0; at < names.length; at++) yield rowAt(at, notSent);
    },
    isDeleted: (at) => states[at] === deleted,
    isPresent: (at) => states[at] === created || states[at] === skipped,
    uncertainGroups: () => [...uncertainGroups.values()].map(currentNames).filter(({ names: left }) => left.length > 0),
    missing: () => names.filter((_, at) => [missing, failed, deleted].includes(states[at] ?? missing)),
    wasSent: () => wasSent,
    unchecked: () => [...unchecked],
    taken: () => names.filter((_, at) => states[at] === taken),
    counts: () => {
      const count = (state: number): number => states.reduce((sum, one) => sum + (one === state ? 1 : 0), 0);
      return {
        created: count(created),
        skipped: count(skipped),
        unknown: count(uncertain),
        failed: count(failed) + count(taken),
        missing: count(missing) + count(deleted),
      };
    },
    isRefused: () => refused.size > 0 && states.every((state, at) => state === skipped || refused.has(at)),
    ownsId: (id) => {
      const at = positionsOfIds.get(id);
      return (at !== undefined && ids[at] === id) || deletedIds.has(id);
    },
    nextGroup: () => {
      groups += 1;
      return groups;
    },
  };
}

/** The batch has no droplets left to create. */
export function isFinished(state: BatchState): boolean {
  const { missing, failed, unknown } = state.counts();
  return state.baseline() !== undefined && missing + failed + unknown === 0;
}

/**
 * The row of a name that was skipped because of `--if-exists skip`. `difference` describes how the existing droplet differs
 * from the batch.
 */
interface SkippedRow {
  readonly name: string;
  readonly status: 'skipped';
  readonly id?: string;
  readonly difference?: string;
  readonly public_ipv4?: string;
}

function skippedRow(name: string, id: string | undefined, baseline: Baseline | undefined): SkippedRow {
  const differences = baseline?.differences ?? {};
  const difference = Object.hasOwn(differences, name) ? differences[name] : undefined;
  return {
    name,
    status: 'skipped',
    ...(id === undefined ? {} : { id }),
    ...(difference === undefined ? {} : { difference }),
  };
}

/** A sentence that lists the differences of skipped droplets; undefined when there are none. */
export function describeSkipped(rows: Iterable<{ readonly status: string }>): string | undefined {
  const found = [...rows].filter(
    (row): row is SkippedRow => row.status === 'skipped' && 'difference' in row && row.difference !== undefined,
  );
  if (found.length === 0) return undefined;
  const listed = found.slice(0, 20).map(({ name, id, difference }) => `${name} (${id}): ${difference}`);
  const more = found.length > listed.length ? `; and ${found.length - listed.length} more` : '';
  return `Skipped droplets that differ from the options: ${listed.join('; ')}${more}.`;
}
