/** An HTTP request as it was received, before any normalization. */
export interface LoopbackHttpRequest {
  readonly peerAddress: string | undefined;
  /** Whether another user than the one of this process (and not root) sent the request; undefined if the system does not show it. */
  readonly isOtherUser?: boolean | undefined;
  readonly method: string;
  /** The request target as it is in the request line. */
  readonly rawTarget: string;
  /** Header names and values in turn (name, value, name, value, …), as received, including repeated headers. */
  readonly rawHeaders: readonly string[];
  /** The request body; present after it was read. */
  readonly body?: LoopbackHttpRequestBody;
}

/** The body of a request; a body over the size limit is discarded. */
export type LoopbackHttpRequestBody = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'too_long' };

/** All values of a header, in the order in which they were received. */
export function readRequestHeaderValues(request: LoopbackHttpRequest, name: string): readonly string[] {
  return request.rawHeaders.filter(
    (_, index, headers) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name,
  );
}

/** Whether the name of any header starts with `prefix`. */
export function hasHeaderWithPrefix(request: LoopbackHttpRequest, prefix: string): boolean {
  return request.rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase().startsWith(prefix));
}

/** The part of the request target before `?`, neither decoded nor normalized. */
export function readRawRequestPath(request: LoopbackHttpRequest): string {
  return splitTarget(request.rawTarget)[0];
}

/** The part of the request target after `?`; empty without a query. */
export function readRawRequestQuery(request: LoopbackHttpRequest): string {
  return splitTarget(request.rawTarget)[1];
}

function splitTarget(target: string): readonly [string, string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}
