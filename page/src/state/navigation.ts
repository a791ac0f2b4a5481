// The current view, the task that it shows, and the announcements for screen readers.

import { signal } from '@preact/signals'
import { TaskSession } from '../live/task-session.ts'
import { textIn } from '../model/event-data.ts'
import { linkTo, type Route, routeOf } from '../model/route.ts'
import type { TaskEvent, TaskStatus } from '../model/wire.ts'
import { api, clock } from './api.ts'

export const route = signal<Route>(routeOf(location.hash))
/** The data of the opened task; null in the other views. */
export const session = signal<TaskSession | null>(null)
/** The line of the list with keyboard focus. */
export const activeId = signal<string | null>(null)
/** The text announced to screen readers. */
export const announcement = signal('')

export const linkToSchedules: string = linkTo({ view: 'schedules' })
export const linkToEngines: string = linkTo({ view: 'engines' })
export const linkToCharts: string = linkTo({ view: 'charts' })
export const linkToNew: string = linkTo({ view: 'new', parentId: null })

export function go(to: Route): void {
  location.hash = linkTo(to)
}

/** Shows the view of the address, and follows its changes. Called once. */
export function startNavigation(): void {
  addEventListener('hashchange', showRoute)
  showRoute()
}

function showRoute(): void {
  route.value = routeOf(location.hash)
  const here = route.value
  if (here.view === 'overview') document.title = 'errand'
  if (here.view === 'schedules') document.title = 'Schedules · errand'
  if (here.view === 'engines') document.title = 'Engines · errand'
  if (here.view === 'charts') document.title = 'Charts · errand'
  if (here.view === 'task') activeId.value = here.id
  if (here.view === 'task' && session.peek()?.id === here.id) return
  session.peek()?.close()
  lastAnnounced.clear()
  session.value = here.view === 'task' ? new TaskSession(here.id, api, clock) : null
}

export function announce(text: string): void {
  announcement.value = text
}

/** Passes an event to the opened task, and announces a new state of it. */
export function onTaskEvent(event: TaskEvent): void {
  const open = session.peek()
  open?.handleEvent(event)
  if (open?.id !== event.taskId) return
  const word = event.data['ready'] === true ? 'queued' : (event.data['status'] as TaskStatus)
  const before = lastAnnounced.get(event.taskId)
  lastAnnounced.set(event.taskId, word)
  if (before !== undefined && before !== word) announce(`${textIn(event.data, 'name')} is ${word}`)
}
const lastAnnounced = new Map<string, string>()
