/**
 * Result of reading a list: `complete` means that no item was missed, `again` that items may have been missed, `short` that the
 * server returns fewer items than its total.
 */
type Result = 'complete' | 'again' | 'short';

/**
 * Decides whether one or more passes over a list read all of its items, although other users change the list during the
 * reading.
 *
 * An item is missed when it moves from a page that was not yet read to a page that was already read. In a list with the newest
 * items first, only a deletion moves an item to an earlier page, and the total falls from one page to the next. In a list with
 * the oldest items first, a creation can hide the fall of the total, but the created item itself is read at the end of the
 * list. So one pass over a list is complete when the total never fell, grew by every new item that was read, and at least as
 * many items were read as the first total says.
 *
 * If one pass over the list does not prove that it is complete, the items of several passes are compared. Two items that were
 * neighbours on a page had no item between them, and new items are added only at the start or the end of the list. When pairs
 * of neighbours form a chain from the start of the list to its end, every item that existed during the whole reading was read,
 * however much the list changes. Also, a pass missed nothing if it read at least as many items as its total and the next pass
 * reads all of these items again.
 */
export interface Completeness {
  /** Starts another pass over the list. Each pass must use another page size. */
  beginPass(): void;
  beginPage(total: number | undefined): void;
  /** Returns whether no pass has read the item before. @param isNewcomer the item was created during the reading */
  addItem(id: string, isNewcomer: boolean): boolean;
  /** Returns whether the next page must be read. @param isLast no page follows */
  endPage(isLast: boolean): boolean;
  result(): Result;
  /** The number of items that were read in all passes together, and in this pass. */
  readonly itemCount: number;
  readonly itemCountInPass: number;
}

export function trackCompleteness(): Completeness {
  /** Every item that was read, with the item that followed it on the page. */
  const next = new Map<string, string>();
  /** Items that the current pass has read, from the second pass on. The items of the first pass are the keys of `next`. */
  let metNow = new Set<string>();
  let metBefore: ReadonlySet<string> | undefined;
  let pass: PassCounts = { ...emptyPassCounts };
  let before: PassCounts | undefined;
  let neighbour: string = listStart;
  /** Whether earlier pages had all items of this page; undefined for an empty page. */
  let isPageAgain: boolean | undefined;
  /** The last item of the chain of neighbouring pairs that begins at the start of the list and has no gap. */
  let front: string = listStart;

  const met = (): number => next.size - (next.has(listStart) ? 1 : 0);
  const metInPass = (): number => (before === undefined ? met() : metNow.size);
  const isUnbroken = (): boolean => {
    for (let at = next.get(front) ?? unknownId; at !== unknownId; at = next.get(front) ?? unknownId) {
      front = at;
      if (front === listEnd) return true;
    }
    return front === listEnd;
  };
  /**
   * Whether the list shows no change: both passes have the same items, and all pages of both have the same total. If the server
   * ends the list early, the pass with the smaller page size reads fewer items.
   */
  const isStill = (last: PassCounts): boolean =>
    [last, pass].every(({ fell, first, last: end }) => !fell && first === end && first === pass.first) &&
    (metNow.size === last.met || (isCutOff(last) && isCutOff(pass))) &&
    [...metNow].every((id) => metBefore?.has(id) ?? pass.fresh === 0);
  /** Whether this pass read all items of the previous pass again, so that no deletion moved an item during the previous pass. */
  const isMetAgain = ({ met }: PassCounts): boolean =>
    metBefore === undefined ? metNow.size - pass.fresh === met : [...metBefore].every((id) => metNow.has(id));
  return {
    get itemCount() {
      return met();
    },
    get itemCountInPass() {
      return metInPass();
    },
    beginPass() {
      const met = metInPass();
      metBefore = before === undefined ? undefined : metNow;
      metNow = new Set();
      before = { ...pass, met };
      pass = { ...emptyPassCounts };
    },
    beginPage(total) {
      pass.pages += 1;
      isPageAgain = undefined;
      neighbour = pass.pages === 1 ? listStart : unknownId;
      if (total === undefined) return;
      pass.first ??= total;
      pass.fell ||= total < (pass.last ?? total);
      pass.least = Math.min(total, pass.least ?? total);
      pass.last = total;
    },
    addItem(id, isNewcomer) {
      const isNew = !next.has(id);
      const isNewHere = before === undefined ? isNew : !metNow.has(id);
      pass.stood += 1;
      isPageAgain = isPageAgain !== false && !isNewHere;
      if (isNewcomer && isNewHere) pass.newcomers += 1;
      if (isNew) {
        next.set(id, unknownId);
        pass.fresh += 1;
      }
      if (before !== undefined) metNow.add(id);
      if (neighbour !== unknownId) next.set(neighbour, id);
      neighbour = id;
      return isNew;
    },
    endPage(isLast) {
      pass.isRepeating ||= isPageAgain === true;
      if (isLast && neighbour !== unknownId && !isCutOff(pass) && !pass.isRepeating) next.set(neighbour, listEnd);
      return before === undefined || before.isShort || !isUnbroken();
    },
    result() {
      pass.isShort = metInPass() < (pass.least ?? 0);
      if (!mayBeIncomplete(pass, metInPass())) return 'complete';
      if (before === undefined) return 'again';
      if (before.isShort && pass.isShort && isStill(before)) return 'short';
      /**
       * A deletion stays unnoticed if an item was created and deleted before its page was read, but then the pass reads
       * fewer items than its total.
       */
      if (!before.isShort && isMetAgain(before)) return 'complete';
      /**
       * The chain of neighbouring pairs may end at an item that was deleted later. The next search may find a chain past
       * this item.
       */
      front = listStart;
      return isUnbroken() ? 'complete' : 'again';
    },
  };
}

interface PassCounts {
  pages: number;
  /** Totals that the first and the last page of a pass report, and the lowest total of all its pages. */
  first: number | undefined;
  last: number | undefined;
  least: number | undefined;
  /** Whether one page of the pass reported a lower total than the page before it. */
  fell: boolean;
  /** The number of items on all pages, where repeated items count again. */
  stood: number;
  /** Whether a page had only items of earlier pages: the server repeated a page instead of returning another one. */
  isRepeating: boolean;
  /** The number of items that were created after the first page was read. */
  newcomers: number;
  /** The number of items that only this pass has read. */
  fresh: number;
  /** The number of items that the pass read; set at the end of the pass. */
  met: number;
  isShort: boolean;
}

function mayBeIncomplete({ pages, first, last, fell, newcomers }: PassCounts, met: number): boolean {
  if (first === undefined || last === undefined) return false;
  const isFallHidden = pages > 1 && last - first < newcomers;
  return fell || isFallHidden || met < first;
}

/**
 * The pages together have fewer items than the lowest total although all but the last page are full: the server ended the list
 * early.
 */
function isCutOff({ stood, least = 0 }: PassCounts): boolean {
  return stood < least;
}

const emptyPassCounts: PassCounts = {
  pages: 0,
  first: undefined,
  last: undefined,
  least: undefined,
  fell: false,
  stood: 0,
  isRepeating: false,
  newcomers: 0,
  fresh: 0,
  met: 0,
  isShort: false,
};
/** Places in the list that are not items; no id has such a text. */
const listStart = '\u0000start';
const listEnd = '\u0000end';
const unknownId = '\u0000unknown';
