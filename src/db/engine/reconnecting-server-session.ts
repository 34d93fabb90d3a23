/** A session that stays open between tasks and is opened again after it was lost. */
export interface ReconnectingServerSession<S> {
  /**
   * The open session; undefined if the server cannot be reached at present. Throws on permanent errors, and when an
   * outage lasts longer than the timeout.
   */
  run<T>(task: (session: S) => Promise<T>): Promise<T | undefined>;
  /** The error of the present outage of the server. */
  outage(): unknown;
  close(): Promise<void>;
}

export interface ReconnectingServerSessionOptions<S> {
  readonly open: () => Promise<S>;
  readonly close: (session: S) => Promise<void> | void;
  /** Whether a task that failed with this error may succeed later. */
  readonly isTransient: (error: unknown) => boolean;
  /** Milliseconds of real time that an outage may last. */
  readonly outageTimeout: number;
}

export function createReconnectingServerSession<S>(
  options: ReconnectingServerSessionOptions<S>,
): ReconnectingServerSession<S> {
  let session: S | undefined;
  let outageSince: number | undefined;
  let outage: unknown;
  const close = async () => {
    const old = session;
    session = undefined;
    if (old !== undefined) await options.close(old);
  };
  return {
    close,
    outage: () => outage,
    async run(task) {
      try {
        session ??= await options.open();
        const result = await task(session);
        outageSince = undefined;
        outage = undefined;
        return result;
      } catch (error) {
        await close();
        outage = error;
        outageSince ??= performance.now();
        if (!options.isTransient(error) || performance.now() - outageSince > options.outageTimeout) throw error;
        return undefined;
      }
    },
  };
}
