// Loads the optional package ws when an inspector is served.
import { notInstalled } from '../../core/optional-package.ts'

export type WebSockets = typeof import('ws')
export type { WebSocket } from 'ws'

/** @throws ErrandError NOT_OFFERED { package } if it is not installed. */
export async function loadWebSockets(): Promise<WebSockets> {
  try {
    return await import('ws')
  } catch (error) {
    throw notInstalled(error, 'ws', 'Serving an inspector')
  }
}
