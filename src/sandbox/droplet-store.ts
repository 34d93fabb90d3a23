import type { SandboxDroplet, SandboxDropletAction } from './records.ts';
import type { SandboxStateTable } from './state/tables.ts';

/** Stores the droplets and actions of every account. The lists of an account are sorted by id, which is the order of creation. */
export interface SandboxDropletStore {
  readonly droplets: SandboxStateTable<SandboxDroplet>;
  readonly actions: SandboxStateTable<SandboxDropletAction>;
  /** The droplets and actions of each account, by the UUID of the account. */
  readonly accounts: Map<string, AccountLists>;
  /** The id of the next droplet or action. */
  nextId: number;
}

interface AccountLists {
  readonly droplets: SandboxDroplet[];
  readonly actions: SandboxDropletAction[];
}

/** The attributes of a droplet that a creation request specifies. */
export type DropletSpec = Pick<SandboxDroplet, 'region' | 'size' | 'image' | 'tags' | 'features' | 'vpc'>;

export interface CreatedSandboxDroplet {
  readonly droplet: SandboxDroplet;
  readonly action: SandboxDropletAction;
}

/** How long the status of a droplet is `new`, in milliseconds of the virtual clock. */
const CREATION_MS = 5_000;

export function createSandboxDropletStore(
  tables: Pick<SandboxDropletStore, 'droplets' | 'actions'>,
  nextId: number,
): SandboxDropletStore {
  const { droplets, actions } = tables;
  const store: SandboxDropletStore = { droplets, actions, accounts: new Map(), nextId };
  for (const droplet of droplets.rows()) listsOf(store, droplet.account).droplets.push(droplet);
  for (const action of actions.rows()) listsOf(store, action.account).actions.push(action);
  for (const lists of store.accounts.values()) {
    lists.droplets.sort(byId);
    lists.actions.sort(byId);
  }
  return store;
}

/** Adds a droplet and its create action. @param at the time in milliseconds of the virtual clock */
export function addSandboxDroplet(
  store: SandboxDropletStore,
  account: string,
  name: string,
  spec: DropletSpec,
  at: number,
  id = store.nextId++,
): CreatedSandboxDroplet {
  const activeAt = at + CREATION_MS;
  const droplet: SandboxDroplet = { ...spec, id, account, name, createdAt: at, activeAt };
  store.droplets.put(droplet);
  listsOf(store, account).droplets.push(droplet);
  return { droplet, action: recordAction(store, 'create', droplet, at, activeAt) };
}

/** Removes the droplet and adds its destroy action. */
export function removeSandboxDroplet(
  store: SandboxDropletStore,
  droplet: SandboxDroplet,
  at: number,
): SandboxDropletAction {
  store.droplets.drop(droplet.id);
  const { droplets } = listsOf(store, droplet.account);
  droplets.splice(findIndexById(droplets, droplet.id), 1);
  return recordAction(store, 'destroy', droplet, at, at);
}

/** Oldest first. */
export function listSandboxDropletsOfAccount(store: SandboxDropletStore, account: string): readonly SandboxDroplet[] {
  return store.accounts.get(account)?.droplets ?? [];
}

/** Oldest first. */
export function listSandboxActionsOfAccount(
  store: SandboxDropletStore,
  account: string,
): readonly SandboxDropletAction[] {
  return store.accounts.get(account)?.actions ?? [];
}

function byId(left: { readonly id: number }, right: { readonly id: number }): number {
  return left.id - right.id;
}

function listsOf(store: SandboxDropletStore, account: string): AccountLists {
  const known = store.accounts.get(account);
  if (known !== undefined) return known;
  const empty = { droplets: [], actions: [] };
  store.accounts.set(account, empty);
  return empty;
}

function recordAction(
  store: SandboxDropletStore,
  type: SandboxDropletAction['type'],
  droplet: SandboxDroplet,
  startedAt: number,
  completedAt: number,
): SandboxDropletAction {
  const { id, account, region } = droplet;
  const action: SandboxDropletAction = {
    id: store.nextId++,
    account,
    type,
    droplet: id,
    region,
    startedAt,
    completedAt,
  };
  store.actions.put(action);
  listsOf(store, account).actions.push(action);
  return action;
}

/** Uses binary search, because an account may have thousands of droplets. */
function findIndexById(droplets: readonly SandboxDroplet[], id: number): number {
  let low = 0;
  let high = droplets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((droplets[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
