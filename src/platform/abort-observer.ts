/** An object whose method is called when an AbortSignal is aborted. */
export interface AbortObserver {
  onAbort(): void;
}

interface SignalObservers {
  /**
   * The current observers of the signal. An array is used instead of a Set, because the internal tables of a Set would keep
   * removed observers until the next full garbage collection.
   */
  readonly all: AbortObserver[];
  readonly tell: () => void;
  /** Whether more than one request uses the signal. */
  isShared: boolean;
}

const observedSignals = new WeakMap<AbortSignal, SignalObservers>();

/**
 * Registers an observer of a signal. All observers of a signal share one abort listener: adding and removing a listener takes
 * as long as writing a small request, and Node warns about more than ten listeners.
 */
export function addAbortObserver(signal: AbortSignal, observer: AbortObserver): void {
  const known = observedSignals.get(signal);
  const observed = known ?? createSignalObservers();
  observed.all.push(observer);
  if (observed.isShared) return;
  observed.isShared = known !== undefined;
  observedSignals.set(signal, observed);
  signal.addEventListener('abort', observed.tell, { once: true });
}

export function removeAbortObserver(signal: AbortSignal, observer: AbortObserver): void {
  const observed = observedSignals.get(signal);
  const at = observed?.all.indexOf(observer) ?? -1;
  if (observed === undefined || at === -1) return;
  const { all, tell, isShared } = observed;
  // The last observer of the array takes the place of the removed one.
  const last = all.pop();
  if (last !== undefined && at < all.length) all[at] = last;
  // The abort listener is removed, because it would keep the deadline of a single request in memory until the deadline expires.
  if (all.length === 0 && !isShared) signal.removeEventListener('abort', tell);
}

function createSignalObservers(): SignalObservers {
  const all: AbortObserver[] = [];
  const tell = (): void => {
    for (const one of all.splice(0)) one.onAbort();
  };
  return { all, tell, isShared: false };
}
