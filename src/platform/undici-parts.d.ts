declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export = Agent;
}

declare module 'undici/lib/handler/decorator-handler.js' {
  import type { Dispatcher } from 'undici';

  type Method = `onRequest${'Start' | 'Upgrade'}` | `onResponse${'Start' | 'Data' | 'End' | 'Error'}`;
  const DecoratorHandler: new (
    handler: Dispatcher.DispatchHandler,
  ) => Required<Pick<Dispatcher.DispatchHandler, Method>>;
  export = DecoratorHandler;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  function request(this: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  export = request;
}
