// The head of the page of a task: its path, name and state, and the actions.

import { useLayoutEffect, useRef } from 'preact/hooks'
import { startOf } from '../../../src/core/storable-text.ts'
import { canFork } from '../model/fork.ts'
import { type Action, actionLabels, possibleActions, type StateWord } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { Task, TaskRow, TaskStatus } from '../model/wire.ts'
import { linkToAll } from '../state/filters.ts'
import { link } from '../state/task-list.ts'
import { CopyButton, focusMainIfLost, LongText, StateBadge } from './elements.tsx'
import { Markdown } from './markdown.tsx'

const maxTitleLength = 160

interface HeadProps {
  task: Task
  status: TaskStatus
  word: StateWord
  name: string
}

export function TaskHead({ task, status, word, name }: HeadProps) {
  return (
    <header class="task-head">
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href={linkToAll.value}>All tasks</a>
        {ancestorsOf(task).map((row) => (
          <a key={row.id} href={linkTo({ view: 'task', id: row.id })}>
            {startOf(row.name, 60)}
          </a>
        ))}
      </nav>
      <div class="title-line">
        <h1>
          <LongText text={name === '' ? task.id : name} label="the name" limit={maxTitleLength} />
        </h1>
        <StateBadge status={status} word={word} />
      </div>
      <p class="ids">
        <code>#{task.seq}</code> <code>{task.id}</code> <CopyButton text={task.id} label="Copy the id" />
      </p>
      {task.description === '' ? null : (
        <div class="description">
          <Markdown text={task.description} label="the description" limit={500} />
        </div>
      )}
    </header>
  )
}

const maxAncestors = 6

function ancestorsOf(task: Task): TaskRow[] {
  const above: TaskRow[] = []
  let id = task.parentId
  while (id !== null && above.length < maxAncestors) {
    const row = link.store.rows.get(id)
    if (row === undefined) break
    above.unshift(row)
    id = row.parentId
  }
  return above
}

/** A failed task is mostly retried. */
function classOf(action: Action, status: TaskStatus): string {
  if (action === 'cancel') return 'danger'
  return action === 'retry' && status === 'failed' ? 'primary' : ''
}

interface ActionBarProps {
  task: Task
  status: TaskStatus
  onAction: (action: Action) => void
}

/** The actions that the state accepts, and a fork. Questions have their answers beside them. */
export function ActionBar({ task, status, onAction }: ActionBarProps) {
  const possible = possibleActions(status).filter((action) => action !== 'answer')
  const offered: Action[] = canFork(task) ? [...possible, 'fork'] : possible
  const bar = useRef<HTMLDivElement>(null)
  const hadFocus = bar.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (hadFocus) focusMainIfLost()
  })
  const final = possible.length === 0 ? <p class="note">This task is {status}, which is final.</p> : null
  if (offered.length === 0) return final
  return (
    <div class="actions" role="toolbar" ref={bar} aria-label="Actions">
      {final}
      {offered.map((action) => (
        <button type="button" key={action} class={classOf(action, status)} onClick={() => onAction(action)}>
          {actionLabels[action]}
        </button>
      ))}
    </div>
  )
}
