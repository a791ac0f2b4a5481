// The actions that have a key, on the selected tasks, the active line, or the opened task.

import { type BulkAction, bulkActions } from '../model/bulk.ts'
import { activeId, announce, route } from './navigation.ts'
import { asked, rowsOf, selected } from './selection.ts'
import { link, listing, past } from './task-list.ts'

export const actionKeys: Readonly<Record<Exclude<BulkAction, 'delete'> | 'answer', string>> = {
  answer: 'a',
  pause: 'p',
  resume: 'u',
  retry: 'r',
  cancel: 'c',
}

/** A deletion has no key: a slip would be too dear. */
export function keyOf(action: BulkAction): string | undefined {
  return action === 'delete' ? undefined : actionKeys[action]
}

/** Opens the dialog of the action with this key. Returns whether there is one. */
export function askByKey(key: string): boolean {
  const { view } = route.peek()
  if (past.peek() !== null || (view !== 'overview' && view !== 'task')) return false
  if (key === actionKeys.answer) return askForAnswer()
  const action = bulkActions.find((each) => keyOf(each) === key)
  if (action === undefined) return false
  const ids = rowsOf(chosenIds()).map(({ id }) => id)
  if (ids.length === 0) announce('Select a task first')
  else asked.value = { action, ids }
  return true
}

function chosenIds(): readonly string[] {
  const here = route.peek()
  if (here.view === 'task') return [here.id]
  if (selected.peek().size > 0) return [...selected.peek()]
  const active = activeId.peek()
  return active === null ? [] : [active]
}

/** The opened task, the active line, or else the question that has waited the longest. */
function askForAnswer(): boolean {
  const here = route.peek()
  const own = here.view === 'task' ? here.id : activeId.peek()
  const asks = own !== null && link.store.rows.get(own)?.status === 'input_required'
  const id = asks ? own : here.view === 'task' ? undefined : listing.peek().attention.questions[0]?.id
  if (id === undefined) announce('Nothing asks a question')
  else asked.value = { action: 'answer', id }
  return true
}
