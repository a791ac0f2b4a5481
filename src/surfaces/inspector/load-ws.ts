// The package that speaks WebSocket, an optional one: it is loaded when somebody serves an inspector.
import { ErrandError } from '../../errors.ts'

const packageName = 'ws'

export type WebSockets = typeof import('ws')
export type { WebSocket } from 'ws'

/** @throws ErrandError NOT_OFFERED { package } when it is not installed. `load` is for tests. */
export async function loadWebSockets(load: () => Promise<WebSockets> = () => import('ws')): Promise<WebSockets> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new ErrandError(
      'NOT_OFFERED',
      `Serving an inspector needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
      { package: packageName },
      error,
    )
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' && typeof message === 'string' && message.includes(`'${packageName}'`)
}
