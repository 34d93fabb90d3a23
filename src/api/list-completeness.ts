import { isExactNumber } from '../exact.ts';
import type { JsonRecord } from '../json.ts';

/** complete: no item was missed. again: items may have been missed. short: the server returns fewer items than its total. */
export type CompletenessResult = 'complete' | 'again' | 'short';

/** A number beyond 2^53 is a string of its digits, because several such numbers are one double. */
export type ListItemId = number | string;

/** The id of an item as the API returned it. */
export function listItemId({ id, raw }: { readonly id: number; readonly raw: JsonRecord }): ListItemId {
  return isExactNumber(raw.id) ? String(raw.id) : id;
}

/**
 * Decides whether a list was read completely although other users change it during the reading, in one or more passes.
 *
 * An item is missed when it moves to a page that was already read. In a list with the newest items first only a deletion
 * moves items so, and the total falls from one page to the next. In a list with the oldest items first a creation can hide
 * that fall, but the created item itself is read at the end. So one pass is complete when the total never fell, grew by every
 * new item that was read, and at least the first total of items was read.
 *
 * Otherwise several passes decide. Two items that were neighbours on a page had no item between them, and new items are added
 * only at the ends of the list. When such pairs lead from the start of the list to its end, every item that existed all the
 * time was read, however much the list changes. Also, a pass that has at least its total of items, all of which the next pass
 * reads again, missed nothing.
 */
export interface ListCompleteness {
  /** Starts another pass, which must have other page boundaries. */
  beginPass(): void;
  beginPage(total: number | undefined): void;
  /** Returns whether the item is new in all passes. @param isNewcomer it was created during the reading */
  addItem(id: ListItemId, isNewcomer: boolean): boolean;
  /** Returns whether the next page must be read. @param isLast there is no next page */
  endPage(isLast: boolean): boolean;
  result(): CompletenessResult;
  /** In the first pass every page of the list is read. */
  readonly isFirstPass: boolean;
  /** Items that were read in all passes, and in this pass. */
  readonly itemCount: number;
  readonly itemCountInPass: number;
}

export function createListCompleteness(): ListCompleteness {
  /** Every item that was read, with its successor. */
  const next = new Map<ListItemId, ListItemId>();
  /** Items of this pass and of the previous one. The items of the first pass are in `next`. */
  let metNow = new Set<ListItemId>();
  let metBefore: ReadonlySet<ListItemId> | undefined;
  let pass: PassCounts = { ...emptyPassCounts };
  let before: PassCounts | undefined;
  let neighbour: ListItemId = listStart;
  /** Whether all items of this page were on earlier pages; undefined for an empty page. */
  let isPageAgain: boolean | undefined;
  /** Pairs lead from the start of the list to this item without a gap. */
  let front: ListItemId = listStart;

  const met = (): number => next.size - (next.has(listStart) ? 1 : 0);
  const metInPass = (): number => (before === undefined ? met() : metNow.size);
  const isUnbroken = (): boolean => {
    for (let at = next.get(front) ?? unknownId; !isUnknownId(at); at = next.get(front) ?? unknownId) {
      front = at;
      if (front === listEnd) return true;
    }
    return front === listEnd;
  };
  /**
   * No visible change: both passes have the same items, and all their pages have the same total. If the server ends the list
   * early, the pass with smaller pages has fewer items.
   */
  const isStill = (last: PassCounts): boolean =>
    [last, pass].every(({ fell, first, last: end }) => !fell && first === end && first === pass.first) &&
    (metNow.size === last.met || (isCutOff(last) && isCutOff(pass))) &&
    [...metNow].every((id) => metBefore?.has(id) ?? pass.fresh === 0);
  /** All items of the previous pass still exist, so no deletion moved an item in it. */
  const isMetAgain = ({ met }: PassCounts): boolean =>
    metBefore === undefined ? metNow.size - pass.fresh === met : [...metBefore].every((id) => metNow.has(id));
  return {
    get itemCount() {
      return met();
    },
    get itemCountInPass() {
      return metInPass();
    },
    get isFirstPass() {
      return before === undefined;
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
      if (!isUnknownId(neighbour)) next.set(neighbour, id);
      neighbour = id;
      return isNew;
    },
    endPage(isLast) {
      pass.isRepeating ||= isPageAgain === true;
      if (isLast && !isUnknownId(neighbour) && !isCutOff(pass) && !pass.isRepeating) next.set(neighbour, listEnd);
      return before === undefined || before.isShort || !isUnbroken();
    },
    result() {
      pass.isShort = metInPass() < (pass.least ?? 0);
      if (!mayBeIncomplete(pass, metInPass())) return 'complete';
      if (before === undefined) return 'again';
      if (before.isShort && pass.isShort && isStill(before)) return 'short';
      // An item that was created and deleted unread, and so hid a deletion, leaves the pass short of its total.
      if (!before.isShort && isMetAgain(before)) return 'complete';
      // The chain of pairs may end at an item that was deleted since. Another chain may avoid it.
      front = listStart;
      return isUnbroken() ? 'complete' : 'again';
    },
  };
}

interface PassCounts {
  pages: number;
  /** Totals of the first and the last page, and the lowest total. */
  first: number | undefined;
  last: number | undefined;
  least: number | undefined;
  /** Whether a page had a lower total than its predecessor. */
  fell: boolean;
  /** Items on all pages, including repeated ones. */
  stood: number;
  /** A page had only items of earlier pages: the server repeated a page instead of returning another. */
  isRepeating: boolean;
  /** Items that were created after the first page was read. */
  newcomers: number;
  /** Items that are new in this pass. */
  fresh: number;
  /** At the end of the pass: items read, and whether they are fewer than the lowest total. */
  met: number;
  isShort: boolean;
}

function mayBeIncomplete({ pages, first, last, fell, newcomers }: PassCounts, met: number): boolean {
  if (first === undefined || last === undefined) return false;
  const isFallHidden = pages > 1 && last - first < newcomers;
  return fell || isFallHidden || met < first;
}

/** The pages have fewer items than the lowest total, although all but the last are full: the server ended the list early. */
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
const listStart = Number.NEGATIVE_INFINITY;
const listEnd = Number.POSITIVE_INFINITY;
const unknownId = Number.NaN;

function isUnknownId(id: ListItemId): boolean {
  return Number.isNaN(id);
}
