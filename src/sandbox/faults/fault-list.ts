import {
  type CountedFault,
  type Fault,
  type FaultRequest,
  type FaultSpec,
  isInputAction,
  matchesFault,
} from './fault.ts';

/** The faults of a sandbox in the order in which they were added. */
export interface FaultList {
  readonly add: (spec: FaultSpec) => CountedFault;
  readonly list: () => readonly CountedFault[];
  readonly clear: () => void;
  /** Counts the request for every fault that it matches, and returns the faults that apply to it. */
  readonly takeFaults: (request: FaultRequest) => readonly Fault[];
}

/**
 * A fault counts every request that matches it, even if another fault applies to the request. A fault is due from its nth
 * matching request until it has been applied `times` times. Of several faults that are due, the first one applies, and later
 * ones wait for the next matching request. In addition, the first due fault of each action in INPUT_ACTIONS applies.
 */
export function createFaultList(): FaultList {
  let entries: Entry[] = [];
  let nextId = 1;
  return {
    add: (spec) => {
      const fault: Fault = { ...spec, id: nextId++, nth: spec.nth ?? 1, times: spec.times ?? 1 };
      const entry: Entry = { fault, matched: 0, applied: 0 };
      entries.push(entry);
      return recordOf(entry);
    },
    list: () => entries.map(recordOf),
    clear: () => {
      entries = [];
    },
    takeFaults: (request) => {
      if (entries.length === 0) return [];
      const matching = entries.filter(({ fault }) => matchesFault(fault.match, request));
      for (const entry of matching) entry.matched += 1;
      const due = matching.filter(({ fault, matched, applied }) => matched >= fault.nth && applied < fault.times);
      const kinds = due.map(({ fault: { action } }) => (isInputAction(action) ? action : 'reply'));
      const first = due.filter((_, at) => kinds.indexOf(kinds[at] ?? 'reply') === at);
      for (const entry of first) entry.applied += 1;
      return first.map(({ fault }) => fault);
    },
  };
}

interface Entry {
  readonly fault: Fault;
  matched: number;
  applied: number;
}

function recordOf({ fault, matched, applied }: Entry): CountedFault {
  return { ...fault, matched, applied, remaining: fault.times - applied };
}
