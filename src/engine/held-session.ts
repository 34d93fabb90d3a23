/** A session that is kept, and opened again when it was lost. */
export interface HeldSession<S> {
  /** undefined: an outage, which may still end. Throws what will not end by waiting, and an outage that lasts too long. */
  run<T>(work: (session: S) => Promise<T>): Promise<T | undefined>;
  close(): Promise<void>;
}

export interface HeldSessionOptions<S> {
  readonly open: () => Promise<S>;
  readonly close: (session: S) => Promise<void> | void;
  /** Whether waiting may help. */
  readonly isTransient: (error: unknown) => boolean;
  /** Real milliseconds that an outage may last. */
  readonly outageTimeout: number;
}

export function holdSession<S>({
  open,
  close,
  isTransient: passes,
  outageTimeout: patience,
}: HeldSessionOptions<S>): HeldSession<S> {
  let session: S | undefined;
  let outSince: number | undefined;
  const end = async () => {
    const old = session;
    session = undefined;
    if (old !== undefined) await close(old);
  };
  return {
    close: end,
    async run(work) {
      try {
        session ??= await open();
        const answer = await work(session);
        outSince = undefined;
        return answer;
      } catch (error) {
        await end();
        outSince ??= performance.now();
        if (!passes(error) || performance.now() - outSince > patience) throw error;
        return undefined;
      }
    },
  };
}
