/** Thrown when a server breaks a statement. The texts may contain secrets and text of the server; the report removes both. */
export class ConformanceDifference extends Error {
  override readonly name = 'ConformanceDifference';
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
export class NotTestable extends Error {
  override readonly name = 'NotTestable';
}
