import { isExactNumber } from '../exact.ts';
import type { JsonRecord } from '../json.ts';

/** complete: nothing was missed. again: items may have slipped past. short: the server promises items that it does not give. */
export type CompletenessResult = 'complete' | 'again' | 'short';

/** A number beyond 2^53 as the text it came as: two of them may be one double. */
export type ItemId = number | string;

/** Of an item as the API sent it: beyond 2^53 only its digits tell it from its neighbour. */
export function itemIdOf({ id, raw }: { readonly id: number; readonly raw: JsonRecord }): ItemId {
  return isExactNumber(raw.id) ? String(raw.id) : id;
}

/**
 * Keeps account of a list that others change while its pages are read, in one pass or more.
 *
 * An item is lost when it moves to a page that was already read. In a list that is newest first only a deletion does that,
 * and the total falls from one page to the next. In one that is oldest first a creation can hide the fall, but the created
 * item itself is met at the end. So a pass is whole without more when the total never fell, grew by every newcomer that was
 * met, and at least the first total was met.
 *
 * Otherwise the passes together must tell. Two items that stood side by side on a page had nothing between them, and what is
 * created stands before or behind all others: when such pairs lead from the beginning of the list to its end, every item
 * that was there all the time was met, however much the list goes on changing. And a pass that is not short of its
 * total, and whose items are all met again in the next one, lost nothing, wherever its pages were cut.
 */
export interface ListCompleteness {
  /** Begins another pass, whose pages are to be cut at other places. */
  beginPass(): void;
  beginPage(total: number | undefined): void;
  /** Whether the item was never met before. */
  addItem(id: ItemId, isNewcomer: boolean): boolean;
  /** `isLast` says that nothing follows. Returns whether there is a reason to read on. */
  endPage(isLast: boolean): boolean;
  result(): CompletenessResult;
  /** A page of the first pass is never the last one that is wanted before the list ends. */
  readonly isFirstPass: boolean;
  /** Items met in all passes, and in this one. */
  readonly itemCount: number;
  readonly itemCountInPass: number;
}

export function createListCompleteness(): ListCompleteness {
  /** Every item that was met, with the one that stood behind it. */
  const next = new Map<ItemId, ItemId>();
  /** In this pass and in the one before it. Not in the first one: all it met is in `next`. */
  let metNow = new Set<ItemId>();
  let metBefore: ReadonlySet<ItemId> | undefined;
  let pass: PassCounts = { ...emptyPassCounts };
  let before: PassCounts | undefined;
  let neighbour: ItemId = listStart;
  /** Whether all on this page was met on those before it; undefined while it is empty. */
  let isPageAgain: boolean | undefined;
  /** Up to here pairs lead without a gap. */
  let front: ItemId = listStart;

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
   * Nothing changed that can be seen: the same items in both passes, and one total on all their pages. Where pages are cut
   * off, the pass whose pages are smaller ends with fewer items.
   */
  const isStill = (last: PassCounts): boolean =>
    [last, pass].every(({ fell, first, last: end }) => !fell && first === end && first === pass.first) &&
    (metNow.size === last.met || (isCutOff(last) && isCutOff(pass))) &&
    [...metNow].every((id) => metBefore?.has(id) ?? pass.fresh === 0);
  /** What the pass before met was all there to its end: nothing was deleted behind it, so it lost nothing. */
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
      // What came and went behind the reading unmet, and hid another so, leaves it short of its total.
      if (!before.isShort && isMetAgain(before)) return 'complete';
      // It may have led to an item that was deleted since: another way may lead around it.
      front = listStart;
      return isUnbroken() ? 'complete' : 'again';
    },
  };
}

interface PassCounts {
  pages: number;
  /** Totals of the first and the last page, and the least of all. */
  first: number | undefined;
  last: number | undefined;
  least: number | undefined;
  /** Whether a page had a lower total than the one before it. */
  fell: boolean;
  /** Places on its pages, whether the same item stood in two of them or not. */
  stood: number;
  /** A page held nothing but what those before it had held: others do not create so many at once, it stood in for another. */
  isRepeating: boolean;
  /** Items met that were created since the first page was read. */
  newcomers: number;
  /** Items that no pass before this one met. */
  fresh: number;
  /** When it is over: items met, and whether they were fewer than the least total. */
  met: number;
  isShort: boolean;
}

function mayBeIncomplete({ pages, first, last, fell, newcomers }: PassCounts, met: number): boolean {
  if (first === undefined || last === undefined) return false;
  const isFallHidden = pages > 1 && last - first < newcomers;
  return fell || isFallHidden || met < first;
}

/** The pages end before the total: each of them but the last is full, so whatever changed, their places are as many as it says. */
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

function isUnknownId(id: ItemId): boolean {
  return Number.isNaN(id);
}
