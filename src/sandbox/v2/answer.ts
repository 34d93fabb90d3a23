/** An answer of the resource API before it is written as JSON; without a value the body is empty. */
export interface Answer {
  readonly status: number;
  readonly value: object | undefined;
  /** The same where it has been written already. */
  readonly json?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function answer(status: number, value: object | undefined): Answer {
  return { status, value, headers: {} };
}

/** Of text that is JSON: what never changes of a long list is written once and not for each answer. */
export function answerJson(status: number, json: string): Answer {
  return { status, value: undefined, json, headers: {} };
}
