import { type HttpSender, SendError } from './http-sender.ts';

/** Tells one line a request: what was asked and how it ended, with the names of its parameters and none of their values. */
export function withRequestTrace(send: HttpSender, trace: (line: string) => void, now: () => number): HttpSender {
  return async (url, init) => {
    const start = now();
    const tell = (end: string) => trace(`${init.method} ${redactUrl(url)} ${end} ${Math.round(now() - start)} ms`);
    try {
      const answer = await send(url, init);
      tell(String(answer.status));
      return answer;
    } catch (error) {
      tell(error instanceof SendError ? error.kind : 'failed');
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
