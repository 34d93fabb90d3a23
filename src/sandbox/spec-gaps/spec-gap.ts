/** A behaviour that the specification does not define, with the choice of the sandbox. Printed as JSON. */
export interface SpecGap {
  readonly id: string;
  /** Section of the specification that does not define it. */
  readonly section: string;
  readonly question: string;
  readonly choice: string;
}
