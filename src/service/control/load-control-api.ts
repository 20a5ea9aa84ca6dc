import type { ControlApi, ControlApiOptions } from './control-api.ts';

/** The control API, loaded for its first request: most emulators are never asked. */
export function loadControlApi(options: ControlApiOptions): ControlApi {
  return async (request, response) => {
    const { createControlApi } = await import('./control-api.ts');
    return createControlApi(options)(request, response);
  };
}
