// Loads the optional package ws when an inspector is served.
import { loadOptional } from '../../core/optional-package.ts'

export type WebSockets = typeof import('ws')
export type { WebSocket } from 'ws'

/** @throws ErrandError NOT_OFFERED { package } if it is not installed. `load` is for tests. */
export function loadWebSockets(load: () => Promise<WebSockets> = () => import('ws')): Promise<WebSockets> {
  return loadOptional('ws', 'Serving an inspector', load)
}
