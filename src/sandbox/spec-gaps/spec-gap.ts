/** What the specification does not show, and what the sandbox does about it. */
export interface SpecGap {
  readonly id: string;
  /** Section of the specification that leaves it open. */
  readonly section: string;
  readonly question: string;
  readonly choice: string;
}
