/**
 * Whether the target has received everything that was written `delay` milliseconds ago. While applications write, there is
 * always something left to replicate, so a lag of 0 would never be seen.
 * @param polls all polls, oldest first
 * @param positionOf how far the source had written, in bytes; undefined if it does not show it
 * @param lag in the last poll, in bytes
 */
export function hasTargetCaughtUp<T extends { readonly at: number }>(
  polls: readonly T[],
  positionOf: (poll: T) => number | undefined,
  lag: number,
  delay: number,
): boolean {
  if (lag === 0) return true;
  const now = polls.at(-1);
  const earlier = now && polls.findLast(({ at }) => at <= now.at - delay);
  const [before, written] = [earlier, now].map((poll) => poll && positionOf(poll));
  return before !== undefined && written !== undefined && written - lag >= before;
}
