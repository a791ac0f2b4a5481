// The table of routes, which derives from the operations. Handlers, the OpenAPI document and the documentation page derive from it.
// Abilities without a route are reached at /abilities/{id}.
import { operations } from '../../engine/operations.ts'
import { type Method, type Operation, type OperationRoute, routeTags } from '../../operations/define-operation.ts'

export interface Route extends Omit<OperationRoute, 'endpoint'> {
  readonly method: Method
  /**
   * Names in braces are fields of the ability's input. GET and DELETE read the other fields from the query, POST and PATCH from the body.
   */
  readonly path: string
  readonly ability: string
  /** Answered as server-sent events. */
  readonly streams?: true
}

/** The routes of these operations, by tag. */
export function routesOf(offered: readonly Operation[]): Route[] {
  const all = offered.flatMap(({ id, streams, routes }) =>
    routes.map(({ endpoint, ...route }): Route => {
      const [method, path] = endpoint.split(' ') as [Method, string]
      return { method, path, ability: id, ...route, ...(streams ? { streams: true } : {}) }
    }),
  )
  return routeTags.flatMap((tag) => all.filter((route) => route.tag === tag))
}

export const routes: readonly Route[] = routesOf(operations)

/** Whether the fields that are not in the path are read from the body rather than the query. */
export function takesBody({ method }: Pick<Route, 'method'>): boolean {
  return method === 'POST' || method === 'PATCH'
}

/** The names in braces, in order. */
export function pathNames(path: string): string[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as string)
}
