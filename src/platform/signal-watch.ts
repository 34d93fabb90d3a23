/** Who is told when a signal is given. */
export interface Watcher {
  onAbort(): void;
}

/** Those that watch it now. */
const watchers = new WeakMap<AbortSignal, Set<Watcher>>();

/**
 * One listener serves all requests that go with a signal: to add and remove one for each takes as long as to write a small
 * request, and more than ten at once are called a leak. What is told is told once.
 */
export function watchSignal(signal: AbortSignal, watcher: Watcher): void {
  const known = watchers.get(signal);
  if (known !== undefined) return void known.add(watcher);
  const all = new Set([watcher]);
  watchers.set(signal, all);
  const tell = (): void => {
    for (const one of [...all]) one.onAbort();
    all.clear();
  };
  signal.addEventListener('abort', tell, { once: true });
}

export function unwatchSignal(signal: AbortSignal, watcher: Watcher): void {
  watchers.get(signal)?.delete(watcher);
}
