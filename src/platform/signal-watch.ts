/** Who is told when a signal is given. */
export interface Watcher {
  onAbort(): void;
}

/** Those that watch it now. No Set, whose older tables would keep what has left it, and its answer, until the next full collection. */
const watchers = new WeakMap<AbortSignal, Watcher[]>();

/**
 * One listener serves all requests that go with a signal: to add and remove one for each takes as long as to write a small
 * request, and more than ten at once are called a leak. What is told is told once.
 */
export function watchSignal(signal: AbortSignal, watcher: Watcher): void {
  const known = watchers.get(signal);
  if (known !== undefined) return void known.push(watcher);
  const all = [watcher];
  watchers.set(signal, all);
  const tell = (): void => {
    for (const one of all.splice(0)) one.onAbort();
  };
  signal.addEventListener('abort', tell, { once: true });
}

export function unwatchSignal(signal: AbortSignal, watcher: Watcher): void {
  const all = watchers.get(signal) ?? [];
  const at = all.indexOf(watcher);
  if (at === -1) return;
  // Whoever came last takes its place.
  const last = all.pop();
  if (last !== undefined && at < all.length) all[at] = last;
}
