import type { SandboxAction, SandboxDroplet } from './records.ts';
import type { StateTable } from './state/state-table.ts';

/** The droplets of every account and what was done to them. Both lists of an account stand in the order of their ids. */
export interface DropletStore {
  readonly droplets: StateTable<SandboxDroplet>;
  readonly actions: StateTable<SandboxAction>;
  readonly accounts: Map<string, { readonly droplets: SandboxDroplet[]; readonly actions: SandboxAction[] }>;
  nextId: number;
}

export interface DropletSpec {
  readonly region: string;
  readonly size: string;
  readonly image: number;
  readonly tags: readonly string[];
  readonly features: readonly string[];
  readonly vpc?: string;
}

export interface CreatedDroplet {
  readonly droplet: SandboxDroplet;
  readonly action: SandboxAction;
}

/** How long a droplet stays new: "a few seconds of the virtual clock". */
const CREATION_MS = 5_000;

export function createDropletStore(
  { droplets, actions }: Pick<DropletStore, 'droplets' | 'actions'>,
  nextId: number,
): DropletStore {
  const fleet: DropletStore = { droplets, actions, accounts: new Map(), nextId };
  for (const droplet of droplets.rows()) recordsOfAccount(fleet, droplet.account).droplets.push(droplet);
  for (const action of actions.rows()) recordsOfAccount(fleet, action.account).actions.push(action);
  for (const own of fleet.accounts.values()) {
    own.droplets.sort(byId);
    own.actions.sort(byId);
  }
  return fleet;
}

export function addDroplet(
  fleet: DropletStore,
  account: string,
  name: string,
  blueprint: DropletSpec,
  at: number,
): CreatedDroplet {
  const droplet: SandboxDroplet = {
    ...blueprint,
    id: fleet.nextId++,
    account,
    name,
    createdAt: at,
    activeAt: at + CREATION_MS,
  };
  fleet.droplets.put(droplet);
  recordsOfAccount(fleet, account).droplets.push(droplet);
  return { droplet, action: recordAction(fleet, 'create', droplet, at, at + CREATION_MS) };
}

export function removeDroplet(fleet: DropletStore, droplet: SandboxDroplet, at: number): SandboxAction {
  fleet.droplets.drop(droplet.id);
  const { droplets } = recordsOfAccount(fleet, droplet.account);
  droplets.splice(positionOf(droplets, droplet.id), 1);
  return recordAction(fleet, 'destroy', droplet, at, at);
}

export function dropletsOf(fleet: DropletStore, account: string): readonly SandboxDroplet[] {
  return fleet.accounts.get(account)?.droplets ?? [];
}

/** Oldest first. */
export function actionsOf(fleet: DropletStore, account: string): readonly SandboxAction[] {
  return fleet.accounts.get(account)?.actions ?? [];
}

function byId(left: { readonly id: number }, right: { readonly id: number }): number {
  return left.id - right.id;
}

function recordsOfAccount(
  fleet: DropletStore,
  account: string,
): { readonly droplets: SandboxDroplet[]; readonly actions: SandboxAction[] } {
  const known = fleet.accounts.get(account);
  if (known !== undefined) return known;
  const fresh = { droplets: [], actions: [] };
  fleet.accounts.set(account, fresh);
  return fresh;
}

function recordAction(
  fleet: DropletStore,
  type: SandboxAction['type'],
  droplet: SandboxDroplet,
  startedAt: number,
  completedAt: number,
): SandboxAction {
  const { id, account, region } = droplet;
  const action: SandboxAction = { id: fleet.nextId++, account, type, droplet: id, region, startedAt, completedAt };
  fleet.actions.put(action);
  recordsOfAccount(fleet, account).actions.push(action);
  return action;
}

function positionOf(droplets: readonly SandboxDroplet[], id: number): number {
  let low = 0;
  let high = droplets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((droplets[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
