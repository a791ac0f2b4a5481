// The head of the page of a task: its path, name and state, and the actions.

import { type Action, actionLabels, actions, whyNot } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { Task, TaskRow, TaskStatus } from '../model/wire.ts'
import { link } from '../state/task-list.ts'
import { CopyButton, LongText, StateBadge } from './elements.tsx'

const maxTitleLength = 160

interface HeadProps {
  task: Task
  status: TaskStatus
  queued: boolean
  name: string
}

export function TaskHead({ task, status, queued, name }: HeadProps) {
  return (
    <header class="task-head">
      <nav aria-label="Breadcrumb" class="crumbs">
        <a href="#/">All tasks</a>
        {ancestorsOf(task).map((row) => (
          <a key={row.id} href={linkTo({ view: 'task', id: row.id })}>
            {row.name.slice(0, 60)}
          </a>
        ))}
      </nav>
      <div class="title-line">
        <h1>
          <LongText text={name === '' ? task.id : name} label="the name" limit={maxTitleLength} />
        </h1>
        <StateBadge status={status} queued={queued} />
      </div>
      <p class="ids">
        <code>#{task.seq}</code> <code>{task.id}</code> <CopyButton text={task.id} label="Copy the id" />
      </p>
      {task.description === '' ? null : (
        <p class="description">
          <LongText text={task.description} label="the description" limit={300} />
        </p>
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

/** Start and answer are only shown when they are possible. */
function shownActions(status: TaskStatus): readonly Action[] {
  return actions.filter((action) => {
    if (action === 'start') return status === 'submitted'
    if (action === 'answer') return status === 'input_required'
    return true
  })
}

export function ActionBar({
  status,
  disabled,
  onAction,
}: {
  status: TaskStatus
  disabled: boolean
  onAction: (action: Action) => void
}) {
  return (
    <div class="actions" role="toolbar" aria-label="Actions">
      {shownActions(status).map((action) => {
        const reason = disabled ? 'Return to now first.' : whyNot(action, { status })
        return (
          <button
            type="button"
            key={action}
            class={action === 'cancel' ? 'danger' : action === 'answer' ? 'primary' : ''}
            disabled={reason !== null}
            title={reason ?? ''}
            onClick={() => onAction(action)}
          >
            {actionLabels[action]}
          </button>
        )
      })}
    </div>
  )
}
