// The reason for the state of a task, its progress and its questions.

import type { TaskSession } from '../live/task-session.ts'
import { isSettled } from '../model/lifecycle.ts'
import { linkTo } from '../model/route.ts'
import type { Question, Task, TaskStatus } from '../model/wire.ts'
import { link } from '../state/task-list.ts'
import { LongText } from './elements.tsx'

interface StatusPanelProps {
  open: TaskSession
  task: Task
  status: TaskStatus
  onAnswer: () => void
}

export function StatusPanel({ open, task, status, onAnswer }: StatusPanelProps) {
  const why = open.why.value
  return (
    <div class={`status-panel state-${status}`}>
      {task.questions.map((question) => (
        <OpenQuestion key={question.id} question={question} onAnswer={onAnswer} />
      ))}
      {task.progress === null || isSettled(status) ? null : (
        <p>
          <progress max={1} value={task.progress.fraction} aria-label="Progress" />{' '}
          {Math.round(task.progress.fraction * 100)} %{task.progress.note === null ? '' : ` ${task.progress.note}`}
        </p>
      )}
      {why === null || (why.reason === 'answer' && task.questions.length > 0) ? null : (
        <p class="why-message">
          <span class="why-reason">{why.reason}</span> <LongText text={why.message} label="the reason" limit={400} />
          {why.tasks.slice(0, 8).map((id) => {
            const row = link.store.rows.get(id)
            return row === undefined || id === task.id ? null : (
              <a key={id} href={linkTo({ view: 'task', id })} class="chip">
                {row.name.slice(0, 40)}
              </a>
            )
          })}
        </p>
      )}
    </div>
  )
}

function OpenQuestion({ question, onAnswer }: { question: Question; onAnswer: () => void }) {
  return (
    <div class="question">
      <p>
        <LongText text={question.question} label="the question" />
      </p>
      <button type="button" class="primary" onClick={onAnswer} aria-label={`Answer: ${question.question.slice(0, 80)}`}>
        Answer…
      </button>
    </div>
  )
}
