// The router, an optional package: it is loaded when the first request comes, and whoever serves nothing need not have it.
import { loadOptional } from '../../core/optional-package.ts'

type Router = typeof import('hono')

/** @throws ErrandError NOT_OFFERED { package } when it is not installed. `load` is for tests. */
export function loadHono(load: () => Promise<Router> = () => import('hono')): Promise<Router> {
  return loadOptional('hono', 'Serving over HTTP', load)
}
