export const side: string;
export function otherNode(range: string): string | undefined;
export function install(folder: string, ...packages: readonly string[]): boolean;
