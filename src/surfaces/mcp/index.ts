// `errand/mcp`: the abilities of an engine as tools of the Model Context Protocol, over standard input and output and over HTTP.
export { type McpFetchHandler, mcpFetchHandler } from './fetch-handler.ts'
export type {
  AgentSession,
  McpFetchOptions,
  McpHttpOptions,
  McpOptions,
  McpStdioOptions,
  ServedEngine,
} from './mcp-options.ts'
export { type McpHttpServer, serveMcpHttp } from './serve-http.ts'
export { serveMcpStdio } from './serve-stdio.ts'
