// What a server may be told: where it listens, whether it has the page, and all that the routes take.
import { z } from 'zod'
import { type HttpOptions, httpOptionsSchema } from '../http/http-options.ts'
import { type PlaceOptions, placeShape } from '../web/door-options.ts'

export interface ServeOptions extends Omit<HttpOptions, 'basePath'>, PlaceOptions {
  /** Serves the page at `/`. Default true. */
  page?: boolean
  /** Connections at once; one more is closed as it comes. Default 1,024. */
  maxConnections?: number
}

const { basePath: _basePath, ...httpShape } = httpOptionsSchema.shape

/** What the routes take is judged by themselves, once it is whole. */
const ofTheRoutes = Object.fromEntries(Object.keys(httpShape).map((name) => [name, z.unknown().optional()]))

export const serveOptionsSchema = z.strictObject({
  ...ofTheRoutes,
  ...placeShape,
  page: z.boolean().default(true),
  maxConnections: z.int().min(1).default(1_024),
})
