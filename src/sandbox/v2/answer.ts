/** An answer of the resource API before it is written as JSON; without a value the body is empty. */
export interface Answer {
  readonly status: number;
  readonly value: object | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export function answer(status: number, value: object | undefined): Answer {
  return { status, value, headers: {} };
}
