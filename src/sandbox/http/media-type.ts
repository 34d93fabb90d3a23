/** The media type of the request body in lower case, without its parameters. */
export function parseMediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}
