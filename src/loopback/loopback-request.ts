/** A request as it was received, before any normalization. */
export interface LoopbackRequest {
  readonly peerAddress: string | undefined;
  /** Whether the sender belongs to another user than this process and root; undefined: the system does not tell. */
  readonly isOtherUser?: boolean | undefined;
  readonly method: string;
  /** The request target of the request line, unchanged. */
  readonly rawTarget: string;
  /** name, value, name, value, … as received, including repeated headers. */
  readonly rawHeaders: readonly string[];
  /** Present after the body was read. */
  readonly body?: LoopbackRequestBody;
}

/** A body over the limit is discarded. */
export type LoopbackRequestBody = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'too_long' };

/** All values of a header, in the order received. */
export function headerValues(request: LoopbackRequest, name: string): readonly string[] {
  return request.rawHeaders.filter(
    (_, index, headers) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name,
  );
}

/** Whether the name of any header starts with `prefix`. */
export function hasHeaderWithPrefix(request: LoopbackRequest, prefix: string): boolean {
  return request.rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase().startsWith(prefix));
}

/** The target before `?`, neither decoded nor normalized. */
export function rawPath(request: LoopbackRequest): string {
  return splitTarget(request.rawTarget)[0];
}

/** The target after `?`; empty when there is none. */
export function rawQuery(request: LoopbackRequest): string {
  return splitTarget(request.rawTarget)[1];
}

function splitTarget(target: string): readonly [string, string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}
