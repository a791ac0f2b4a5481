// The SDK of the protocol, an optional package: it is loaded when somebody serves, and whoever does not need not have it.
import { loadOptional } from '../../core/optional-package.ts'

const packageName = '@modelcontextprotocol/server'
const doing = 'Serving MCP'

export type Sdk = typeof import('@modelcontextprotocol/server')
export type StdioSdk = typeof import('@modelcontextprotocol/server/stdio')

/** @throws ErrandError NOT_OFFERED { package } when it is not installed. */
export function loadSdk(): Promise<Sdk> {
  return loadOptional(packageName, doing, () => import('@modelcontextprotocol/server'))
}

/** @throws ErrandError NOT_OFFERED { package } */
export function loadStdioSdk(): Promise<StdioSdk> {
  return loadOptional(packageName, doing, () => import('@modelcontextprotocol/server/stdio'))
}
