/** The text of a page's main content, one line for each block, with everything that differs between runs masked. */
export function pageText(html: string): string {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? html;
  return main
    .replace(/\s+/g, ' ')
    .replace(/<\/(?:h1|h2|p|li|tr|dd|legend|label|summary|option|button|caption|form)>/g, '\n')
    .replace(/<\/(?:th|td|dt)>/g, ' | ')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?/g, 'TIME')
    .replace(/\d+\.\d\d s/g, 'N s')
    .replace(/…[A-Za-z0-9]{4}\b/g, '…HINT')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
