/** A reply of the resource API before it is serialized. Without `value` and `json` the body is empty. */
export interface ApiReply {
  readonly status: number;
  readonly value: object | undefined;
  /** The body when it is serialized already. */
  readonly json?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function apiReply(status: number, value: object | undefined): ApiReply {
  return { status, value, headers: {} };
}

/** For a body that is JSON text: the constant parts of a long list are serialized once, not for each reply. */
export function apiReplyOfJson(status: number, json: string): ApiReply {
  return { status, value: undefined, json, headers: {} };
}
