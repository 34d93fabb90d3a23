/** An answer of the resource API before it is written as JSON; without a value the body is empty. */
export interface ApiReply {
  readonly status: number;
  readonly value: object | undefined;
  /** The same where it has been written already. */
  readonly json?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function apiReply(status: number, value: object | undefined): ApiReply {
  return { status, value, headers: {} };
}

/** Of text that is JSON: what never changes of a long list is written once and not for each answer. */
export function apiReplyOfJson(status: number, json: string): ApiReply {
  return { status, value: undefined, json, headers: {} };
}
