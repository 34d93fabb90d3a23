import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes a program for the variable BROWSER: Chromium without a window, which goes where it is sent and ends. It signs
 * in nowhere, so the sandbox has to be told to approve by itself.
 */
export function headlessBrowser(folder) {
  const path = join(folder, 'browser');
  const words = [
    'chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking',
    `--disable-component-update --disable-sync --no-proxy-server --user-data-dir='${join(folder, 'browser-profile')}'`,
    '--dump-dom "$1" >/dev/null 2>&1 &',
  ];
  writeFileSync(path, `#!/bin/sh\n${words.join(' ')}\n`, { mode: 0o755 });
  return path;
}
