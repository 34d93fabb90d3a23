/** Thrown when a server breaks a statement. The texts may contain secrets and text of the server; the report removes both. */
export class ConformanceDifferenceError extends Error {
  override readonly name = 'ConformanceDifferenceError';
  readonly expected: string;
  readonly sent: string;
  readonly received: string;

  constructor(expected: string, { sent, received }: { readonly sent: string; readonly received: string }) {
    super(expected);
    this.expected = expected;
    this.sent = sent;
    this.received = received;
  }
}

/** Thrown when a statement cannot be tested on this server; the message is the reason. */
export class ConformanceNotTestableError extends Error {
  override readonly name = 'ConformanceNotTestableError';
}
