// The reason for the state of a task, its progress and its questions.

import { startOf } from '../../../src/core/storable-text.ts'
import { splitAtIds } from '../../../src/entities/task-id.ts'
import type { TaskSession } from '../live/task-session.ts'
import { isSettled } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { Task, TaskStatus } from '../model/wire.ts'
import { link } from '../state/task-list.ts'
import { LongText, Shortened } from './elements.tsx'
import { InlineAnswer } from './inline-answer.tsx'
import { Markdown } from './markdown.tsx'

interface StatusPanelProps {
  open: TaskSession
  task: Task
  status: TaskStatus
}

export function StatusPanel({ open, task, status }: StatusPanelProps) {
  const why = open.why.value
  const isOver = isSettled(status)
  const progress = isOver ? null : task.progress
  // A settled task has no more to say than its state, unless it was canceled for a reason.
  const reason = isOver ? null : why?.reason === 'answer' && task.questions.length > 0 ? null : why
  const canceledFor = status === 'canceled' ? task.statusReason : null
  if (task.questions.length === 0 && progress === null && reason === null && canceledFor === null) return null
  return (
    <div class={`status-panel state-${status}`}>
      {task.questions.map((question) => (
        <div class="question" key={question.id}>
          <Markdown text={question.question} label="the question" />
          <InlineAnswer task={task} question={question} onAnswered={() => void open.read()} />
        </div>
      ))}
      {progress === null ? null : (
        <p>
          <progress max={1} value={progress.fraction} aria-label="Progress" /> {Math.round(progress.fraction * 100)} %
          {progress.note === null ? '' : ` ${progress.note}`}
        </p>
      )}
      {canceledFor === null ? null : (
        <p>
          Canceled: <LongText text={canceledFor} label="the reason" limit={400} />
        </p>
      )}
      {reason === null ? null : (
        <p class="why-message">
          <span class="why-reason">{reason.reason}</span>{' '}
          <Shortened text={reason.message} label="the reason" limit={400}>
            {(shown) => <WithLinks text={shown} />}
          </Shortened>
          {reason.tasks
            .filter((id) => id !== task.id && !reason.message.includes(id))
            .slice(0, 8)
            .map((id) => {
              const row = link.store.rows.get(id)
              return row === undefined ? null : (
                <a key={id} href={linkTo({ view: 'task', id })} class="chip">
                  #{row.seq} {startOf(row.name, 40)}
                </a>
              )
            })}
        </p>
      )}
    </div>
  )
}

/** A text in which the ids of known tasks are links with their numbers. */
function WithLinks({ text }: { text: string }) {
  return (
    <>
      {splitAtIds(text).map((part, index) => {
        const row = index % 2 === 0 ? undefined : link.store.rows.get(part)
        return row === undefined ? (
          part
        ) : (
          <a key={String(index)} href={linkTo({ view: 'task', id: part })} title={row.name}>
            #{row.seq}
          </a>
        )
      })}
    </>
  )
}
