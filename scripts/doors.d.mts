import type { Plugin } from 'esbuild';

export declare function throughDoors(): Plugin;
