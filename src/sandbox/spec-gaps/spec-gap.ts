/** A behaviour that the specification does not define, with the choice that the sandbox makes. Printed as JSON. */
export interface SpecGap {
  readonly id: string;
  /** The section of the specification that leaves the behaviour undefined. */
  readonly section: string;
  readonly question: string;
  readonly choice: string;
}
