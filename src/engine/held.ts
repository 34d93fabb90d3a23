/** A session that is kept, and opened again when it was lost. */
export interface Held<S> {
  /** undefined: an outage, which may still end. Throws what will not end by waiting, and an outage that lasts too long. */
  ask<T>(work: (session: S) => Promise<T>): Promise<T | undefined>;
  end(): Promise<void>;
}

export interface Holding<S> {
  readonly open: () => Promise<S>;
  readonly close: (session: S) => Promise<void> | void;
  /** Whether waiting may help. */
  readonly passes: (error: unknown) => boolean;
  /** Real milliseconds that an outage may last. */
  readonly patience: number;
}

export function hold<S>({ open, close, passes, patience }: Holding<S>): Held<S> {
  let session: S | undefined;
  let outSince: number | undefined;
  const end = async () => {
    const old = session;
    session = undefined;
    if (old !== undefined) await close(old);
  };
  return {
    end,
    async ask(work) {
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
