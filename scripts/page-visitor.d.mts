export interface VisitedPage {
  readonly url: string;
  readonly status: number;
  readonly html: string;
  readonly title: string;
}

/** Follows `url` to a page, fills in and sends its forms as `fill` returns, and resolves with the first page `fill` has no values for. */
export function visit(
  url: string,
  fill: (page: VisitedPage) => Readonly<Record<string, string>> | undefined,
): Promise<VisitedPage>;
