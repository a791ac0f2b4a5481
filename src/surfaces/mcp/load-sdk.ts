// Loads the optional MCP SDK when serving starts.
import { loadOptional } from '../../core/optional-package.ts'

const packageName = '@modelcontextprotocol/server'
const doing = 'Serving MCP'

export type Sdk = typeof import('@modelcontextprotocol/server')
export type StdioSdk = typeof import('@modelcontextprotocol/server/stdio')

/** @throws ErrandError NOT_OFFERED { package } if it is not installed. */
export function loadSdk(): Promise<Sdk> {
  return loadOptional(packageName, doing, () => import('@modelcontextprotocol/server'))
}

/** @throws ErrandError NOT_OFFERED { package } */
export function loadStdioSdk(): Promise<StdioSdk> {
  return loadOptional(packageName, doing, () => import('@modelcontextprotocol/server/stdio'))
}
