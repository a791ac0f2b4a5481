// Loads the optional MCP SDK when serving starts.
import { notInstalled } from '../../core/optional-package.ts'

const packageName = '@modelcontextprotocol/server'
const doing = 'Serving MCP'

export type Sdk = typeof import('@modelcontextprotocol/server')
export type StdioSdk = typeof import('@modelcontextprotocol/server/stdio')

/** @throws ErrandError NOT_OFFERED { package } if it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@modelcontextprotocol/server')
  } catch (error) {
    throw notInstalled(error, packageName, doing)
  }
}

/** @throws ErrandError NOT_OFFERED { package } */
export async function loadStdioSdk(): Promise<StdioSdk> {
  try {
    return await import('@modelcontextprotocol/server/stdio')
  } catch (error) {
    throw notInstalled(error, packageName, doing)
  }
}
