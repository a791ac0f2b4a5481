// The current view, as encoded in the fragment of the address.

export type Route =
  /** `query`: the filters of the list. */
  | { view: 'overview'; query: string }
  | { view: 'schedules' }
  | { view: 'engines' }
  | { view: 'charts' }
  | { view: 'task'; id: string }
  | { view: 'new'; parentId: string | null }

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?')
  const [first, second] = path.split('/').filter(Boolean)
  if (first === 'task' && second !== undefined) return { view: 'task', id: decoded(second) }
  if (first === 'new') return { view: 'new', parentId: new URLSearchParams(query).get('parent') }
  return first === 'schedules' || first === 'engines' || first === 'charts'
    ? { view: first }
    : { view: 'overview', query }
}

/** A mistyped link must not break the page. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function linkTo(route: Route): string {
  if (route.view === 'task') return `#/task/${encodeURIComponent(route.id)}`
  if (route.view === 'new')
    return route.parentId === null ? '#/new' : `#/new?parent=${encodeURIComponent(route.parentId)}`
  if (route.view !== 'overview') return `#/${route.view}`
  return route.query === '' ? '#/' : `#/?${route.query}`
}
