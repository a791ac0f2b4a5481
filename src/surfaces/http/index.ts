// `errand/http`: the abilities of an engine as routes over HTTP, with server-sent events, an OpenAPI document and its page.

export { type ErrandServer, type ServeOptions, serve } from '../serve/serve.ts'
export { type FetchFunction, type NodeListenerOptions, type Peer, toNodeListener } from '../web/node-listener.ts'
export { createHttp, type HttpHandler } from './create-http.ts'
export type { Authenticate, HttpEngine, HttpOptions, Principal } from './http-options.ts'
export type { OpenApiDocument } from './openapi.ts'
export type { Problem } from './problem.ts'
