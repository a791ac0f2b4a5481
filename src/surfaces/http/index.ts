// `errand/http`: the abilities of an engine as routes over HTTP, with server-sent events, an OpenAPI document and its page.

export { type FetchFunction, type NodeListenerOptions, type Peer, toNodeListener } from '../web/node-listener.ts'
export type { Authenticate, Principal } from '../web/principal.ts'
export type { Problem } from '../web/problem.ts'
export type { TaskTokenOptions } from '../web/task-tokens.ts'
export type { TenantEngines } from '../web/tenants.ts'
export { createHttp, type HttpHandler, type TenantHttpHandler } from './create-http.ts'
export type { HttpEngine, HttpOptions } from './http-options.ts'
export type { OpenApiDocument } from './openapi.ts'
export { type ErrandServer, type ServeOptions, serve } from './page/serve.ts'
export { streamResponse } from './stream-response.ts'
