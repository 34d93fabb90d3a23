/** A reply of the resource API before serialization. If both `value` and `json` are absent, the body is empty. */
export interface SandboxApiReply {
  readonly status: number;
  readonly value: object | undefined;
  /** The body of the reply as JSON text, if it is already serialized. */
  readonly json?: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function apiReply(status: number, value: object | undefined): SandboxApiReply {
  return { status, value, headers: {} };
}

/** Creates a reply from JSON text, so that the constant parts of a long list are serialized only once. */
export function apiReplyOfJsonText(status: number, json: string): SandboxApiReply {
  return { status, value: undefined, json, headers: {} };
}
