// `errand/mcp`: the abilities of an engine as tools of the Model Context Protocol, over standard input and output and over HTTP.
export type { Authenticate, Principal } from '../web/principal.ts'
export type { TenantEngines } from '../web/tenants.ts'
export {
  type AgentSession,
  defaultAbilities,
  type McpFetchOptions,
  type McpHttpOptions,
  type McpOptions,
  type McpStdioOptions,
  type ServedEngine,
} from './mcp-options.ts'
export { type McpFetchHandler, type McpHttpServer, mcpFetchHandler, serveMcpHttp } from './over-http.ts'
export { serveMcpStdio } from './over-stdio.ts'
