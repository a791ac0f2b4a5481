// The server, loaded when somebody serves: the package that its routes are made with is an optional one.
import { loadOptional } from '../optional-package.ts'

type Serving = typeof import('./serve.ts')

/** @throws ErrandError NOT_OFFERED { package } when it is not installed. `load` is for tests. */
export function loadServe(load: () => Promise<Serving> = () => import('./serve.ts')): Promise<Serving> {
  return loadOptional('hono', 'Serving over HTTP', load)
}
