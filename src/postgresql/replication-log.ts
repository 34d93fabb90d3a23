/**
 * The last error of logical replication in a log of PostgreSQL, with its DETAIL and CONTEXT, on one line of at most 800
 * characters. Works for the default format of the log with any log_line_prefix; undefined if the log has no such error.
 */
export function lastReplicationError(log: string): string | undefined {
  const lines = log.split(/\r?\n/);
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    const message = /\b(?:ERROR|FATAL|PANIC): {1,2}.*/.exec(line)?.[0];
    if (message === undefined) continue;
    const more = contextOf(lines.slice(at + 1, at + 20));
    const text = [message, ...more].join(' ').slice(0, 800);
    if (isOfReplication(text)) return text;
  }
  return undefined;
}

/**
 * The first line of DETAIL, because others hold whole rows, and all lines of CONTEXT: for an error in a trigger the apply
 * worker is the last of them.
 */
function contextOf(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  let label: string | undefined;
  for (const line of lines) {
    if (/\b(?:LOG|WARNING|ERROR|FATAL|PANIC): {1,2}/.test(line)) break;
    const [text, next] = /\b(DETAIL|HINT|QUERY|CONTEXT|STATEMENT): {1,2}.*/.exec(line) ?? [];
    label = next ?? label;
    if (next === 'DETAIL' || next === 'CONTEXT') found.push(text ?? '');
    else if (label === 'CONTEXT' && line.startsWith('\t')) found.push(line.trim());
  }
  return found;
}

/**
 * Whether a message is from an apply or table synchronization worker, or reports a full disk, which stops these
 * workers.
 */
function isOfReplication(text: string): boolean {
  return (
    /replication (origin|target relation|slot|worker)|logical replication|conflict detected on relation|could not (connect to the publisher|receive data from WAL stream|start initial contents copy|start WAL streaming)|no space left on device/i.test(
      text,
    ) && !/terminating logical replication worker due to administrator command|is already active for PID/.test(text)
  );
}
