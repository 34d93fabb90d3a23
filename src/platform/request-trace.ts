import { HttpSendError, type HttpSender } from './http-sender.ts';

/**
 * Prints one line for each HTTP request: method, URL with the names of its parameters but without their values, result and
 * duration.
 */
export function createTracingHttpSender(
  send: HttpSender,
  trace: (line: string) => void,
  now: () => number,
): HttpSender {
  return async (url, init) => {
    const start = now();
    const print = (end: string) => trace(`${init.method} ${redactUrl(url)} ${end} ${Math.round(now() - start)} ms`);
    try {
      const answer = await send(url, init);
      print(String(answer.status));
      return answer;
    } catch (error) {
      print(error instanceof HttpSendError ? error.kind : 'failed');
      throw error;
    }
  };
}

/** `https://host/path?name&name`. */
export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return '(no URL)';
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].map(encodeURIComponent).join('&');
  return `${origin}${pathname}${names === '' ? '' : `?${names}`}`;
}
