import type { Droplet, DropletAction } from './records.ts';
import type { Table } from './state/tables.ts';

interface AccountLists {
  readonly droplets: Droplet[];
  readonly actions: DropletAction[];
}

/** The attributes of a droplet that a creation request specifies. */
export type DropletSpec = Pick<Droplet, 'region' | 'size' | 'image' | 'tags' | 'features' | 'vpc'>;

export interface CreatedDroplet {
  readonly droplet: Droplet;
  readonly action: DropletAction;
}

/** How long the status of a droplet is `new`, in milliseconds of the virtual clock. */
const CREATION_MS = 5_000;

interface DropletTables {
  readonly droplets: Table<Droplet>;
  readonly actions: Table<DropletAction>;
}

/** The droplets and actions of every account. The lists of an account are sorted by id, which is the order of creation. */
export class DropletStore {
  readonly #tables: DropletTables;
  readonly #now: () => number;
  /** The droplets and actions of each account, by the UUID of the account. */
  readonly #accounts = new Map<string, AccountLists>();
  #nextId: number;

  constructor(tables: DropletTables, nextId: number, now: () => number) {
    this.#tables = tables;
    this.#nextId = nextId;
    this.#now = now;
    for (const droplet of tables.droplets.rows()) this.#listsOf(droplet.account).droplets.push(droplet);
    for (const action of tables.actions.rows()) this.#listsOf(action.account).actions.push(action);
    for (const lists of this.#accounts.values()) {
      lists.droplets.sort(byId);
      lists.actions.sort(byId);
    }
  }

  /** The id of the next droplet or action. */
  get nextId(): number {
    return this.#nextId;
  }

  get(id: number): Droplet | undefined {
    return this.#tables.droplets.get(id);
  }

  /** Oldest first. */
  of(account: string): readonly Droplet[] {
    return this.#accounts.get(account)?.droplets ?? [];
  }

  action(id: number): DropletAction | undefined {
    return this.#tables.actions.get(id);
  }

  /** Oldest first. */
  actionsOf(account: string): readonly DropletAction[] {
    return this.#accounts.get(account)?.actions ?? [];
  }

  create(account: string, names: readonly string[], spec: DropletSpec): readonly CreatedDroplet[] {
    const at = this.#now();
    return names.map((name) => this.add(account, name, spec, at));
  }

  /** Adds a droplet and its create action. @param at the time in milliseconds of the virtual clock */
  add(account: string, name: string, spec: DropletSpec, at: number, id = this.#nextId++): CreatedDroplet {
    const activeAt = at + CREATION_MS;
    const droplet: Droplet = { ...spec, id, account, name, createdAt: at, activeAt };
    this.#tables.droplets.put(droplet);
    this.#listsOf(account).droplets.push(droplet);
    return { droplet, action: this.#record('create', droplet, at, activeAt) };
  }

  /** Removes the droplet and adds its destroy action. */
  delete(droplet: Droplet): void {
    const at = this.#now();
    this.#tables.droplets.drop(droplet.id);
    const { droplets } = this.#listsOf(droplet.account);
    droplets.splice(findIndexById(droplets, droplet.id), 1);
    this.#record('destroy', droplet, at, at);
  }

  #record(
    type: DropletAction['type'],
    { id: droplet, account, region }: Droplet,
    startedAt: number,
    completedAt: number,
  ): DropletAction {
    const action: DropletAction = {
      ...{ id: this.#nextId++, account, type, droplet, region },
      ...{ startedAt, completedAt },
    };
    this.#tables.actions.put(action);
    this.#listsOf(account).actions.push(action);
    return action;
  }

  #listsOf(account: string): AccountLists {
    const known = this.#accounts.get(account);
    if (known !== undefined) return known;
    const empty = { droplets: [], actions: [] };
    this.#accounts.set(account, empty);
    return empty;
  }
}

function byId(left: { readonly id: number }, right: { readonly id: number }): number {
  return left.id - right.id;
}

/** Uses binary search, because an account may have thousands of droplets. */
function findIndexById(droplets: readonly Droplet[], id: number): number {
  let low = 0;
  let high = droplets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((droplets[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
