/** Who is told when a signal is given. */
export interface AbortObserver {
  onAbort(): void;
}

interface SignalObservers {
  /** Those that watch it now. No Set, whose older tables would keep what has left it, and its answer, until the next full collection. */
  readonly all: AbortObserver[];
  readonly tell: () => void;
  /** It has served more than one request. */
  isShared: boolean;
}

const observedSignals = new WeakMap<AbortSignal, SignalObservers>();

/**
 * One listener serves all requests that go with a signal: to add and remove one for each takes as long as to write a small
 * request, and more than ten at once are called a leak. What is told is told once.
 */
export function observeAbort(signal: AbortSignal, watcher: AbortObserver): void {
  const known = observedSignals.get(signal);
  const watch = known ?? createSignalObservers();
  watch.all.push(watcher);
  if (watch.isShared) return;
  watch.isShared = known !== undefined;
  observedSignals.set(signal, watch);
  signal.addEventListener('abort', watch.tell, { once: true });
}

export function unobserveAbort(signal: AbortSignal, watcher: AbortObserver): void {
  const watch = observedSignals.get(signal);
  const at = watch?.all.indexOf(watcher) ?? -1;
  if (watch === undefined || at === -1) return;
  const { all, tell, isShared } = watch;
  // Whoever came last takes its place.
  const last = all.pop();
  if (last !== undefined && at < all.length) all[at] = last;
  // A deadline of one request alone would be kept by its listener until it passes.
  if (all.length === 0 && !isShared) signal.removeEventListener('abort', tell);
}

function createSignalObservers(): SignalObservers {
  const all: AbortObserver[] = [];
  const tell = (): void => {
    for (const one of all.splice(0)) one.onAbort();
  };
  return { all, tell, isShared: false };
}
