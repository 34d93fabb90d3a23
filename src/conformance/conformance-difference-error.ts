/**
 * Thrown when the behaviour of a server differs from a statement. The report redacts secrets in the texts and sanitizes
 * texts of the server.
 */
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
