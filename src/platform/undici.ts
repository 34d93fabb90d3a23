/**
 * The two parts of undici that are used, and one that helps: its index loads half as long again. In a file of their
 * own because a lazy import of a bundled CommonJS package yields nothing but `default`.
 */
export { default as request } from 'undici/lib/api/api-request.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as DecoratorHandler } from 'undici/lib/handler/decorator-handler.js';
