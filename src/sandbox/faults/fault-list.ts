import { type Fault, type FaultRecord, type FaultSpec, isFaultMatch, type RequestFacts } from './fault.ts';

/** The faults that were asked for, in the order in which they were. */
export interface FaultList {
  readonly add: (spec: FaultSpec) => FaultRecord;
  readonly list: () => readonly FaultRecord[];
  readonly clear: () => void;
  /** Counts a request in one step and says which fault, if any, it meets; of two requests at once only one meets the last. */
  readonly takeFault: (sign: RequestFacts) => Fault | undefined;
}

/**
 * Each fault counts every request that fits it, whether or not another applied. It is due from its nth match on until it
 * has applied so many times; the first that is due applies, and one behind it waits for the next request.
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
    takeFault: (sign) => {
      if (entries.length === 0) return undefined;
      const fitting = entries.filter(({ fault }) => isFaultMatch(fault.match, sign));
      for (const entry of fitting) entry.matched += 1;
      const due = fitting.find(({ fault, matched, applied }) => matched >= fault.nth && applied < fault.times);
      if (due !== undefined) due.applied += 1;
      return due?.fault;
    },
  };
}

interface Entry {
  readonly fault: Fault;
  matched: number;
  applied: number;
}

function recordOf({ fault, matched, applied }: Entry): FaultRecord {
  return { ...fault, matched, applied, remaining: fault.times - applied };
}
