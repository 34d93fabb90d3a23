/**
 * What a server needs for this number of enabled subscriptions: an apply worker for each, one worker that copies tables,
 * and a background process for the launcher of these workers. Without a free worker a subscription waits without an
 * error. A worker without a replication origin fails on every attempt, and leaves a slot on the source each time.
 * @param limits max_logical_replication_workers and max_sync_workers_per_subscription of the server
 */
export function neededForSubscriptions(
  subscriptions: number,
  limits: { readonly workers: number; readonly copies: number },
): { readonly workers: number; readonly processes: number; readonly origins: number } {
  return {
    workers: subscriptions + 1,
    processes: subscriptions + 2,
    origins: Math.min(limits.workers, subscriptions * (1 + limits.copies)),
  };
}
