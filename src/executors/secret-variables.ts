// Which variables of the engine's environment are its secrets: the tokens of its own doors and the keys of providers. No command
// gets one of them unless its `env` refers to it, whatever else it inherits.
import { isProviderKey } from '../models/known-providers.ts'

/** Where the command line finds the token that clients of a door must send. */
export const tokenVariables = { http: 'ERRAND_TOKEN', mcp: 'ERRAND_MCP_TOKEN' } as const

const tokens: ReadonlySet<string> = new Set(Object.values(tokenVariables))

export function isSecretVariable(name: string, environment: NodeJS.ProcessEnv): boolean {
  return tokens.has(name) || isProviderKey(name, environment)
}
