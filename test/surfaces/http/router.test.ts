// How the path of a request is found in the table of routes.
import { expect, it } from 'vitest'
import { Router } from '../../../src/surfaces/http/router.ts'

function router() {
  const made = new Router<string>()
  made.add('GET', '/tasks', 'list')
  made.add('POST', '/tasks', 'create')
  made.add('GET', '/tasks/{taskId}', 'get')
  made.add('GET', '/tasks/{taskId}/why', 'why')
  made.add('POST', '/tasks/{taskId}/agents/{agentId}/complete', 'complete')
  made.add('GET', '/events/list', 'events')
  return made
}

it.each([
  ['/tasks', { GET: 'list', POST: 'create' }, {}],
  ['/tasks/task-1', { GET: 'get' }, { taskId: 'task-1' }],
  ['/tasks/why', { GET: 'get' }, { taskId: 'why' }],
  ['/tasks/a%2Fb%20c', { GET: 'get' }, { taskId: 'a/b c' }],
  ['/tasks/%zz', { GET: 'get' }, { taskId: '%zz' }],
  ['/tasks/constructor/why', { GET: 'why' }, { taskId: 'constructor' }],
  ['/tasks/a/agents/b/complete', { POST: 'complete' }, { taskId: 'a', agentId: 'b' }],
])('the router finds the handlers of %s by method, and the values of the names', (path, handlers, params) => {
  const found = router().find(path)
  expect({ handlers: Object.fromEntries(found?.handlers ?? []), params: found?.params }).toEqual({ handlers, params })
})

it.each([
  '/',
  '',
  '//tasks',
  '/tasks/',
  '/tasks//why',
  '/tasks/a/why/',
  '/events',
  '/TASKS',
  '/tasks/a/agents/b',
  '/constructor',
])('the router finds nothing at %j', (path) => {
  expect(router().find(path)).toBeUndefined()
})
