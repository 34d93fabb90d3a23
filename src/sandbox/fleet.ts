import type { Action, Droplet } from './records.ts';
import type { Table } from './state/table.ts';

/** The droplets of every account and what was done to them. Both lists of an account stand in the order of their ids. */
export interface Fleet {
  readonly droplets: Table<Droplet>;
  readonly actions: Table<Action>;
  readonly accounts: Map<string, { readonly droplets: Droplet[]; readonly actions: Action[] }>;
  nextId: number;
}

export interface Blueprint {
  readonly region: string;
  readonly size: string;
  readonly image: number;
  readonly tags: readonly string[];
  readonly features: readonly string[];
  readonly vpc?: string;
}

export interface Birth {
  readonly droplet: Droplet;
  readonly action: Action;
}

/** How long a droplet stays new: "a few seconds of the virtual clock". */
const CREATION_MS = 5_000;

export function createFleet({ droplets, actions }: Pick<Fleet, 'droplets' | 'actions'>, nextId: number): Fleet {
  const fleet: Fleet = { droplets, actions, accounts: new Map(), nextId };
  for (const droplet of droplets.rows()) holdings(fleet, droplet.account).droplets.push(droplet);
  for (const action of actions.rows()) holdings(fleet, action.account).actions.push(action);
  for (const own of fleet.accounts.values()) {
    own.droplets.sort(byId);
    own.actions.sort(byId);
  }
  return fleet;
}

export function addDroplet(fleet: Fleet, account: string, name: string, blueprint: Blueprint, at: number): Birth {
  const droplet: Droplet = {
    ...blueprint,
    id: fleet.nextId++,
    account,
    name,
    createdAt: at,
    activeAt: at + CREATION_MS,
  };
  fleet.droplets.put(droplet);
  holdings(fleet, account).droplets.push(droplet);
  return { droplet, action: record(fleet, 'create', droplet, at, at + CREATION_MS) };
}

export function removeDroplet(fleet: Fleet, droplet: Droplet, at: number): Action {
  fleet.droplets.drop(droplet.id);
  const { droplets } = holdings(fleet, droplet.account);
  droplets.splice(positionOf(droplets, droplet.id), 1);
  return record(fleet, 'destroy', droplet, at, at);
}

export function dropletsOf(fleet: Fleet, account: string): readonly Droplet[] {
  return fleet.accounts.get(account)?.droplets ?? [];
}

/** Oldest first. */
export function actionsOf(fleet: Fleet, account: string): readonly Action[] {
  return fleet.accounts.get(account)?.actions ?? [];
}

function byId(left: { readonly id: number }, right: { readonly id: number }): number {
  return left.id - right.id;
}

function holdings(fleet: Fleet, account: string): { readonly droplets: Droplet[]; readonly actions: Action[] } {
  const known = fleet.accounts.get(account);
  if (known !== undefined) return known;
  const fresh = { droplets: [], actions: [] };
  fleet.accounts.set(account, fresh);
  return fresh;
}

function record(fleet: Fleet, type: Action['type'], droplet: Droplet, startedAt: number, completedAt: number): Action {
  const { id, account, region } = droplet;
  const action: Action = { id: fleet.nextId++, account, type, droplet: id, region, startedAt, completedAt };
  fleet.actions.put(action);
  holdings(fleet, account).actions.push(action);
  return action;
}

function positionOf(droplets: readonly Droplet[], id: number): number {
  let low = 0;
  let high = droplets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((droplets[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
