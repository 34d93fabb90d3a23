interface SpecGapText {
  readonly id: string;
  /** The section of the specification that leaves the behaviour undefined. */
  readonly section: string;
  readonly question: string;
  readonly choice: string;
}

/**
 * A behaviour that the specification does not define, with the choice that the sandbox makes. Printed as JSON.
 * `npm run conformance` sends the requests of each case and compares the responses with `observed`.
 */
export type SpecGap = SpecGapText &
  (
    | { readonly observed: Readonly<Record<string, string>> }
    /** Why no request to a server shows the choice. */
    | { readonly unobserved: string }
  );
