export const side: string;
export const npmCommand: readonly [string, ...(readonly string[])];
export function otherNode(range: string): string | undefined;
export function install(folder: string, ...packages: readonly string[]): boolean;
