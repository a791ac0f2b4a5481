// The SDK of the protocol, an optional package: it is loaded when somebody serves, and whoever does not need not have it.
import { ErrandError } from '../../errors.ts'

const packageName = '@modelcontextprotocol/server'

export type Sdk = typeof import('@modelcontextprotocol/server')
export type StdioSdk = typeof import('@modelcontextprotocol/server/stdio')

/** @throws ErrandError NOT_OFFERED { package } when it is not installed. */
export function loadSdk(): Promise<Sdk> {
  return orSayWhatIsMissing(() => import('@modelcontextprotocol/server'))
}

/** @throws ErrandError NOT_OFFERED { package } */
export function loadStdioSdk(): Promise<StdioSdk> {
  return orSayWhatIsMissing(() => import('@modelcontextprotocol/server/stdio'))
}

async function orSayWhatIsMissing<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new ErrandError(
      'NOT_OFFERED',
      `Serving MCP needs the package ${packageName}, which is not installed. Install it with: npm install ${packageName}`,
      { package: packageName },
      error,
    )
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' && typeof message === 'string' && message.includes(packageName)
}
