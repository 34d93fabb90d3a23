/** A request as it came over the wire, before anything normalises it. */
export interface LoopbackRequest {
  readonly peerAddress: string | undefined;
  readonly method: string;
  /** The request target of the request line, byte for byte. */
  readonly rawTarget: string;
  /** name, value, name, value, … as received: repeated headers stay visible. */
  readonly rawHeaders: readonly string[];
  /** Present once the body was read. */
  readonly body?: LoopbackRequestBody;
}

/** A body that grew over the limit is not kept. */
export type LoopbackRequestBody = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'too_long' };

/** Every value of a header, in the order received. */
export function headerValues(request: LoopbackRequest, name: string): readonly string[] {
  return request.rawHeaders.filter(
    (_, index, headers) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name,
  );
}

/** True when any header's name begins so. */
export function hasHeaderWithPrefix(request: LoopbackRequest, prefix: string): boolean {
  return request.rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase().startsWith(prefix));
}

/** The target up to the question mark, neither decoded nor folded. */
export function rawPath(request: LoopbackRequest): string {
  return splitTarget(request.rawTarget)[0];
}

/** The target behind the question mark; empty when there is none. */
export function rawQuery(request: LoopbackRequest): string {
  return splitTarget(request.rawTarget)[1];
}

function splitTarget(target: string): readonly [string, string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}
