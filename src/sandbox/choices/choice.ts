interface ChoiceText {
  readonly id: string;
  /** The rule of docs/service.md that leaves the behaviour open, such as `S4.6`. */
  readonly rule: string;
  readonly question: string;
  readonly choice: string;
}

/**
 * A behaviour that docs/service.md leaves open, with the choice that the sandbox makes. Printed as JSON.
 * `npm run conformance` sends the requests of each case and compares the responses with `observed`.
 */
export type Choice = ChoiceText &
  (
    | { readonly observed: Readonly<Record<string, string>> }
    /** Why no request to a server shows the choice. */
    | { readonly unobserved: string }
  );
