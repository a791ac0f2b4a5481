// Loads the optional package hono at the first request, so that programs that serve nothing need not install it.
import { loadOptional } from '../../core/optional-package.ts'

type Router = typeof import('hono')

/** @throws ErrandError NOT_OFFERED { package } if it is not installed. `load` is for tests. */
export function loadHono(load: () => Promise<Router> = () => import('hono')): Promise<Router> {
  return loadOptional('hono', 'Serving over HTTP', load)
}
