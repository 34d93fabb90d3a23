import type { AnnouncedEvent, BaselineEvent, BatchEvent, LedgerEvent, SendingEvent } from './ledger-event.ts';
import { indexNames } from './name-index.ts';

/** What is printed for a name (contract.md §7). */
export type NameResult =
  | { readonly name: string; readonly status: 'created'; readonly id: number; readonly action_id?: number }
  | { readonly name: string; readonly status: 'skipped'; readonly id?: number }
  | { readonly name: string; readonly status: 'failed' | 'unknown'; readonly error: string };

/** Names of one request whose fate is not known. */
export interface UncertainGroup {
  readonly group: number;
  readonly names: readonly string[];
  /** The server's time, in milliseconds, before the first of the requests that may have created them. */
  readonly sentAfter: number | undefined;
  readonly resend: boolean;
  /** What an earlier run said of them, if one did. */
  readonly error?: string;
}

/** What would be recorded if it were sent, and the start of the machine that announced it. */
export interface AnnouncedSending {
  readonly boot: string;
  readonly sending: SendingEvent;
}

export type BatchCounts = Readonly<Record<NameResult['status'] | 'missing', number>>;

/** Where a batch stands: its ledger, folded. It holds a few bytes for each name, and no row. */
export interface BatchState {
  readonly batch: BatchEvent;
  readonly baseline: () => BaselineEvent | undefined;
  apply(event: LedgerEvent): void;
  readonly hasName: (name: string) => boolean;
  /** Where a name stands among the names. */
  readonly positionOf: (name: string) => number;
  /** The row of the name that stands there; `notSent` is the error of those that never were sent. */
  rowAt(at: number, notSent?: string): NameResult;
  rows(notSent?: string): Generator<NameResult>;
  /** Created, or skipped. */
  readonly isPresent: (at: number) => boolean;
  readonly uncertainGroups: () => readonly UncertainGroup[];
  /** Groups that were announced, of which nothing else is known. */
  readonly announced: () => readonly AnnouncedSending[];
  /** Certainly not there and wanted, in order. */
  readonly missing: () => readonly string[];
  readonly counts: () => BatchCounts;
  /** The id belongs to a row of this batch. */
  ownsId(id: number): boolean;
  readonly nextGroup: () => number;
}

const missing = 0;
const uncertain = 1;
const created = 2;
const failed = 3;
const skipped = 4;

export function createBatchState(batch: BatchEvent): BatchState {
  const { names } = batch;
  const { positionOf } = indexNames(names);
  const states = new Uint8Array(names.length);
  const ids = new Float64Array(names.length);
  const actions = new Float64Array(names.length);
  /** The last group that a name was sent with. */
  const holders = new Int32Array(names.length);
  const errors = new Map<number, string>();
  const doubts = new Map<number, UncertainGroup>();
  /** The event that announced a group: there are many at a time, and each is soon over. */
  const announced = new Map<number, AnnouncedEvent>();
  let baseline: BaselineEvent | undefined;
  let groups = 0;

  const mark = (name: string, state: number, error?: string): number | undefined => {
    const at = positionOf(name);
    if (at === -1) return undefined;
    states[at] = state;
    if (error === undefined) errors.delete(at);
    else errors.set(at, error);
    return at;
  };
  const settle = (group: number, settled: readonly string[], rest: boolean): void => {
    const doubt = doubts.get(group);
    if (doubt === undefined) return;
    const isAll = settled.length === doubt.names.length && settled.every((name, at) => name === doubt.names[at]);
    const left = isAll ? [] : doubt.names.filter((name) => !settled.includes(name));
    if (left.length === 0 || !rest) doubts.delete(group);
    // Part of a request is there, so all of it was done: its other names must not be sent again.
    else doubts.set(group, { ...doubt, names: left, resend: false });
  };
  const announce = (event: AnnouncedEvent): void => {
    for (const { group } of event.groups) {
      groups = Math.max(groups, group);
      announced.set(group, event);
    }
  };
  const announcedAs = ([group, { boot, at, server_date, groups: told }]: readonly [
    number,
    AnnouncedEvent,
  ]): AnnouncedSending => {
    const names = told.find((one) => one.group === group)?.names ?? [];
    return { boot, sending: { event: 'sending', at, server_date, group, names } };
  };
  const hold = (name: string, group: number, error?: string): void => {
    const at = mark(name, uncertain, error);
    if (at !== undefined) holders[at] = group;
  };
  const doubt = ({ group, names: sent, server_date: date }: SendingEvent): void => {
    const before = doubts.get(group);
    const since = before?.sentAfter ?? parseTime(date);
    doubts.set(group, { group, names: sent, sentAfter: since, resend: before?.resend ?? true });
    for (const name of sent) hold(name, group);
  };
  /** A name that was sent again was not there before, even if the line that says so is lost. */
  const held = ({ group, names: sent, ...rest }: UncertainGroup): UncertainGroup => {
    const left = sent.filter((name) => holders[positionOf(name)] === group);
    return { ...rest, group, names: left };
  };
  const take = (first: BaselineEvent): void => {
    baseline = first;
    if (batch.if_exists !== 'skip') return;
    for (const [name, [id]] of Object.entries(first.existing)) {
      const at = mark(name, skipped);
      if (at !== undefined) ids[at] = id ?? 0;
    }
  };

  const rowAt = (at: number, notSent = 'not sent'): NameResult => {
    const name = names[at] ?? '';
    const [id = 0, action = 0] = [ids[at], actions[at]];
    switch (states[at]) {
      case created:
        return action === 0 ? { name, status: 'created', id } : { name, status: 'created', id, action_id: action };
      case skipped:
        return { name, status: 'skipped', ...(id === 0 ? {} : { id }) };
      case uncertain:
        return { name, status: 'unknown', error: errors.get(at) ?? 'no complete answer came' };
      default:
        return { name, status: 'failed', error: errors.get(at) ?? notSent };
    }
  };

  return {
    batch,
    baseline: () => baseline,
    apply(event) {
      if ('group' in event) groups = Math.max(groups, event.group);
      switch (event.event) {
        case 'batch':
          return;
        case 'baseline':
          // The first one counts: a later one would call our own droplets old.
          return baseline === undefined ? take(event) : undefined;
        case 'announced':
          return announce(event);
        case 'sending':
          announced.delete(event.group);
          return doubt(event);
        case 'created': {
          announced.delete(event.group);
          for (const row of event.rows) {
            const at = mark(row.name, created);
            if (at === undefined) continue;
            ids[at] = row.id;
            actions[at] = row.action_id ?? 0;
          }
          const told = event.rows.map(({ name }) => name);
          return settle(event.group, told, true);
        }
        case 'failed':
          // It was never sent, which says nothing of its names.
          if (announced.delete(event.group)) return;
          for (const name of event.names) mark(name, failed, event.error);
          return settle(event.group, event.names, false);
        case 'unknown': {
          const { group, names: left, resend, error } = event;
          doubts.set(group, { group, names: left, sentAfter: doubts.get(group)?.sentAfter, resend, error });
          for (const name of left) hold(name, group, error);
          return;
        }
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
    isPresent: (at) => states[at] === created || states[at] === skipped,
    uncertainGroups: () => [...doubts.values()].map(held).filter(({ names: left }) => left.length > 0),
    announced: () => [...announced].map(announcedAs),
    missing: () => names.filter((_, at) => states[at] === missing || states[at] === failed),
    counts: () => {
      const count = (state: number): number => states.reduce((sum, one) => sum + (one === state ? 1 : 0), 0);
      return {
        created: count(created),
        skipped: count(skipped),
        unknown: count(uncertain),
        failed: count(failed),
        missing: count(missing),
      };
    },
    ownsId: (id) => ids.includes(id),
    nextGroup: () => {
      groups += 1;
      return groups;
    },
  };
}

function parseTime(date: string | undefined): number | undefined {
  const time = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
}
