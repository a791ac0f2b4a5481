// Which variables of the engine's environment are secrets: the tokens of its servers and the keys of model providers. A
// command gets one of them only if its `env` refers to it, whatever else it inherits.
import { isProviderKey } from '../agents/index.ts'

/** The variables from which the command line reads the tokens that clients of its servers must send. */
export const tokenVariables = { http: 'ERRAND_TOKEN', mcp: 'ERRAND_MCP_TOKEN' } as const

const tokens: ReadonlySet<string> = new Set(Object.values(tokenVariables))

export function isSecretVariable(name: string, environment: NodeJS.ProcessEnv): boolean {
  return tokens.has(name) || isProviderKey(name, environment)
}
